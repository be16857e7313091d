import { parseAddress } from '../runtime/address.js';
import { sha2 } from '../runtime/hashes.js';
import { toTime } from '../schemas/values.js';
import { type WebhookLog, webhookLogSchema } from '../schemas/webhook-log.js';
import { addressTest } from './addresses.js';
import { PER_PAGE, pagesOf, tellingOfNone } from './pages.js';
import type { Pace } from './request-rate.js';
import type { SourceSettings } from './source.js';

/**
 * Yields the entries of the provider's log for the receiver's addresses, since `since`. Misses an entry that
 * shifts onto a page that was read before: see {@link untilSettled}.
 *
 * @param seen - Gets each entry since then, including those of other receivers.
 * @param onUnreadable - Called for each record that is not an entry by the specification.
 * @param onOther - Called for each entry of an address that is not the receiver's.
 */
export async function* entriesOf(
  { client, urls, apart, since, call, onProgress }: SourceSettings,
  pace: Pace,
  seen: Sequence,
  onUnreadable: () => void,
  onOther: (entry: WebhookLog) => Promise<void> = async () => {},
): AsyncGenerator<WebhookLog, void, undefined> {
  const pages = pagesOf(
    'webhookLogs.list',
    (page, { onNone, signal }) => {
      const onIssues = tellingOfNone(webhookLogSchema, onNone);
      const options = { ...call, signal, perPage: PER_PAGE, page, onIssues };
      return pace.run(async () => client.webhookLogs.list(options), { signal });
    },
    { signal: call.signal, onUnreadable },
  );
  const isOurs = addressTest(urls, apart);
  let last = Number.POSITIVE_INFINITY;
  let [falls, rises] = [false, false];
  let old = 0;
  for await (const { items, page, totalPages } of pages) {
    for (const entry of items) {
      const at = toTime(entry.created_at);
      old = at < since ? old + 1 : 0;
      falls ||= at < last && last !== Number.POSITIVE_INFINITY;
      rises ||= !(at <= last);
      last = at;
      if (at < since) continue;
      seen.add(entry.id);
      if (isOurs(entry.url)) yield entry;
      // An entry without a valid address may be for this receiver.
      else if (parseAddress(entry.url ?? '') === undefined) onUnreadable();
      else await onOther(entry);
    }
    onProgress({ step: 'log', done: page, of: totalPages });
    // The list is sorted by time, newest first, as far as it was read. No younger entry follows.
    if (falls && !rises && old >= MIN_OLD) return;
  }
}

/**
 * Reads the entries of a page at once, and yields the results in order. So a store such as D1, of which a Worker has few
 * queries, can answer the questions about a page with one query.
 */
export async function* pageAtOnce<Entry, Read>(
  entries: AsyncIterable<Entry>,
  read: (entry: Entry) => Promise<Read>,
): AsyncGenerator<Read, void, undefined> {
  let page: Entry[] = [];
  for await (const entry of entries) {
    page.push(entry);
    if (page.length < PER_PAGE) continue;
    yield* await Promise.all(page.map(read));
    page = [];
  }
  yield* await Promise.all(page.map(read));
}

/** How many old entries in a row end the reading. The time of a single entry may be wrong. */
const MIN_OLD = 3;

const MAX_PASSES = 6;

/**
 * Reads a list until two readings in a row return the same records, and the second finds nothing new. A
 * record that is removed during a reading moves others onto a page that was read before.
 */
export async function untilSettled(
  known: () => number | string,
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

/** How many new records may arrive between two pages before one that is met again counts as a change. */
const MAX_RECENT = 1_000;

/** Which records a reading returned, in which order, as a digest: each record once, from a given one on. */
export class Sequence {
  readonly #from: string | undefined;
  readonly #recent = new Set<string>();
  #digest = '';
  first: string | undefined;

  /** @param from - The record to start at, if the reading returns it. Newer ones do not count. */
  constructor(from?: string) {
    this.#from = from;
  }

  add(id: string): void {
    // A record that has moved onto the next page is met a second time.
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
