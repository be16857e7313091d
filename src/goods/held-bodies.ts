import type { Dispatched } from '../request/outcome.js';

/** The most bytes of calls that wait for `verify.order` and `verify.allow` at the same time. */
const MAX_BYTES = 64 * 1024 * 1024;

const NO_ROOM: Dispatched = { outcome: 'unavailable', ran: [] };

/** Limits the bytes of calls that are still unverified: anyone can send an unsigned call, and `verify.allow` may be slow. */
export class HeldBodies {
  #bytes = 0;

  async hold<Kind>(
    { length }: Uint8Array,
    verify: () => Promise<Kind>,
  ): Promise<Kind | Dispatched> {
    if (this.#bytes + length > MAX_BYTES) return NO_ROOM;
    this.#bytes += length;
    try {
      return await verify();
    } finally {
      this.#bytes -= length;
    }
  }
}
