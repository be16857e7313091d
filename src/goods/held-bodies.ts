import { WebhookError } from '../errors/errors.js';
import type { Dispatched } from '../request/outcome.js';
import { HAS_PROCESS } from '../runtime/has-process.js';

/** The most bytes of calls that wait for `verify.order` and `verify.allow` at the same time. */
const MAX_BYTES = 64 * 1024 * 1024;
/** How often a lack of room is reported at most. */
const REPORT_MS = 60_000;

const NO_ROOM: Dispatched = { outcome: 'unavailable', ran: [] };

/** Limits the bytes of calls that are still unverified: anyone can send an unsigned call, and `verify.allow` may be slow. */
export class HeldBodies {
  readonly #onFull: (error: WebhookError) => void;
  #bytes = 0;
  #reportedAt = Number.NEGATIVE_INFINITY;

  constructor(onFull: (error: WebhookError) => void) {
    this.#onFull = onFull;
  }

  async hold<Kind>(
    { length }: Uint8Array,
    verify: () => Promise<Kind>,
  ): Promise<Kind | Dispatched> {
    if (!HAS_PROCESS) return verify();
    if (this.#bytes + length > MAX_BYTES) return this.#refuse();
    this.#bytes += length;
    try {
      return await verify();
    } finally {
      this.#bytes -= length;
    }
  }

  #refuse(): Dispatched {
    const now = performance.now();
    if (now - this.#reportedAt < REPORT_MS) return NO_ROOM;
    this.#reportedAt = now;
    const message =
      'Calls of more than 64 MiB wait for `verify.order` and `verify.allow`. Further ones are answered 503. Make the ' +
      'two functions faster, or lower `limit`: goods calls are small.';
    this.#onFull(new WebhookError('overloaded', message));
    return NO_ROOM;
  }
}
