import { parseAddress } from '../address.js';
import { sha2 } from '../request/sha2.js';
import { type WebhookLog, webhookLogSchema } from '../schemas/webhook-log.js';
import { addressTest } from './addresses.js';
import type { Pace } from './pace.js';
import { PER_PAGE, pagesOf, tellingOfNone } from './paging.js';
import type { SourceSettings } from './source.js';

/**
 * The entries of the provider's log that are the receiver's, since it is to be looked at. One that shifts onto
 * a page that was read before is not among them: see {@link untilSettled}.
 *
 * @param seen - Told of each entry since then, also of those that are somebody else's.
 * @param onUnreadable - Told of what is no entry of the specification.
 */
export async function* entriesOf(
  { client, urls, since, signal, onProgress }: SourceSettings,
  pace: Pace,
  seen: Sequence,
  onUnreadable: () => void,
): AsyncGenerator<WebhookLog, void, undefined> {
  const options = { perPage: PER_PAGE, ...(signal && { signal }) };
  const pages = pagesOf(
    (page, onNone) =>
      pace.run(async () =>
        client.webhookLogs.list({
          ...options,
          page,
          onIssues: tellingOfNone(webhookLogSchema, onNone),
        }),
      ),
    onUnreadable,
  );
  const isOurs = addressTest(urls);
  let last = Number.POSITIVE_INFINITY;
  let [falls, rises] = [false, false];
  let old = 0;
  for await (const { items, page, totalPages } of pages) {
    for (const entry of items) {
      const at = Date.parse(entry.created_at ?? '');
      old = at < since ? old + 1 : 0;
      falls ||= at < last && last !== Number.POSITIVE_INFINITY;
      rises ||= !(at <= last);
      last = at;
      if (at < since) continue;
      seen.add(entry.id);
      if (isOurs(entry.url)) yield entry;
      // It may be for this receiver.
      else if (parseAddress(entry.url ?? '') === undefined) onUnreadable();
    }
    onProgress({ step: 'log', done: page, of: totalPages });
    // The newest are first, as far as can be seen: nothing younger comes.
    if (falls && !rises && old >= MIN_OLD) return;
  }
}

/** So many old entries in a row are believed to be old: the time of one may be odd. */
const MIN_OLD = 3;

const MAX_PASSES = 6;

/**
 * Reads a list until two readings in a row have met the same records, and found nothing new in them. What is removed
 * while it is read moves others onto a page that was read before.
 */
export async function untilSettled(
  known: () => number,
  read: (seen: Sequence) => Promise<void>,
): Promise<void> {
  let before: Sequence | undefined;
  for (let pass = 1; pass <= MAX_PASSES; pass++) {
    const seen = new Sequence(before?.first);
    const knownBefore = known();
    await read(seen);
    if (before && seen.equals(before) && known() === knownBefore) return;
    before = seen;
  }
}

/** How many records may come between two pages without being taken for a change. */
const MAX_RECENT = 1_000;

/** Which records were met, in which order, in little memory: from one of them on, and each once. */
export class Sequence {
  readonly #from: string | undefined;
  readonly #recent = new Set<string>();
  #digest = '';
  first: string | undefined;

  /** @param from - Where it begins, if that is met: newer ones do not count. */
  constructor(from?: string) {
    this.#from = from;
  }

  add(id: string): void {
    // One that has moved onto the next page is met once more.
    if (this.#recent.has(id)) return;
    this.#recent.add(id);
    if (this.#recent.size > MAX_RECENT)
      this.#recent.delete(this.#recent.values().next().value ?? '');
    if (this.first === undefined || id === this.#from) {
      this.first = id;
      this.#digest = '';
    }
    this.#digest = sha2.sha256(`${this.#digest}${id}`);
  }

  equals(other: Sequence): boolean {
    return this.first === other.first && this.#digest === other.#digest;
  }
}
