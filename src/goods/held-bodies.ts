import { WebhookError } from '../errors/errors.js';
import type { Dispatched } from '../request/outcome.js';
import { HAS_PROCESS } from '../runtime/has-process.js';

/** The most memory of calls that wait for `verify.order` and `verify.allow` at the same time. */
const MAX_BYTES = 64 * 1024 * 1024;
/** The most memory of a call without its body. */
const CALL_BYTES = 8 * 1024;
/** The most memory for each byte of a body: a list of empty objects takes over 20 times its JSON. */
const BYTES_PER_BYTE = 32;
/** How often a lack of room is reported at most. */
const REPORT_MS = 60_000;

const NO_ROOM: Dispatched = { outcome: 'unavailable', ran: [] };

/** Limits the memory of calls that are still unverified: anyone can send an unsigned call, and `verify.allow` may be slow. */
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
    const bytes = CALL_BYTES + BYTES_PER_BYTE * length;
    // A call that is alone is accepted at any size: `limit` limits it.
    if (this.#bytes > 0 && this.#bytes + bytes > MAX_BYTES) return this.#refuse();
    this.#bytes += bytes;
    try {
      return await verify();
    } finally {
      this.#bytes -= bytes;
    }
  }

  #refuse(): Dispatched {
    const now = performance.now();
    if (now - this.#reportedAt < REPORT_MS) return NO_ROOM;
    this.#reportedAt = now;
    const message =
      'The calls that wait for `verify.order` and `verify.allow` may take more than 64 MiB of memory. Further ones are ' +
      'answered 503. Make the two functions faster, or lower `limit`: goods calls are small.';
    this.#onFull(new WebhookError('overloaded', message));
    return NO_ROOM;
  }
}
