import type { Missed } from './log-entry.js';

type Sent = Pick<Missed, 'shop' | 'event' | 'recordId' | 'isPaid' | 'changedAt'>;

/**
 * Returns a text that is the same for all deliveries of one event about one state of a record, such as those of a
 * manual retry or of two endpoints of one shop. `undefined` if its payload has no id.
 */
export function stateOf({ shop, event, recordId, isPaid, changedAt }: Sent): string | undefined {
  if (shop === undefined || recordId === undefined) return undefined;
  // At each of its addresses, the receiver runs the same handlers for a scope. No address contains a space.
  const scope = shop.slice(shop.indexOf(' '));
  return JSON.stringify([scope, event, recordId, isPaid, changedAt]);
}

/** The states of missed deliveries that the receiver has handled under another id. */
export class Copies {
  readonly #handled = new Set<string>();
  /** The states of the missed deliveries so far. The log has many more states that are handled. */
  #missed = new Set<string | undefined>();

  get size(): number {
    return this.#handled.size;
  }

  /** Begins another reading of the log. */
  begin(missed: ReadonlyMap<string, Missed>): void {
    const open = [...missed.values()].filter(({ isDone }) => !isDone);
    this.#missed = new Set(open.map(stateOf));
  }

  addHandled(sent: Sent): void {
    const state = stateOf(sent);
    if (state !== undefined && this.#missed.has(state)) this.#handled.add(state);
  }

  has(sent: Sent): boolean {
    return this.#handled.has(stateOf(sent) ?? '');
  }
}
