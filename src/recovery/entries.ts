import type { Issue } from '../schemas/issue.js';
import { isNone } from '../schemas/resource.js';
import { type WebhookLog, webhookLogSchema } from '../schemas/webhook-log.js';
import { addressTest } from './addresses.js';
import type { Pace } from './pace.js';
import { PER_PAGE, pagesOf } from './paging.js';
import type { SourceSettings } from './source.js';

/**
 * The entries of the provider's log that are the receiver's, since it is to be looked at. One that shifts onto
 * a page that was read before is not among them: see {@link untilSettled}.
 *
 * @param onUnreadable - Told of what is no entry of the specification.
 */
export async function* entriesOf(
  { client, urls, since, signal, onProgress }: SourceSettings,
  pace: Pace,
  onUnreadable: () => void,
): AsyncGenerator<WebhookLog, void, undefined> {
  const options = {
    perPage: PER_PAGE,
    onIssues: (_: unknown, issues: readonly Issue[]) => {
      if (isNone(webhookLogSchema, issues)) onUnreadable();
    },
    ...(signal && { signal }),
  };
  const pages = pagesOf((page) =>
    pace.run(async () => client.webhookLogs.list({ ...options, page })),
  );
  const isOurs = addressTest(urls);
  let last = Number.POSITIVE_INFINITY;
  let [falls, rises] = [false, false];
  for await (const { items, page, totalPages } of pages) {
    for (const entry of items) {
      const at = Date.parse(entry.created_at ?? '');
      falls ||= at < last && last !== Number.POSITIVE_INFINITY;
      rises ||= !(at <= last);
      last = at;
      if (!(at < since) && isOurs(entry.url)) yield entry;
    }
    onProgress({ step: 'log', done: page, of: totalPages });
    // The newest are first, as far as can be seen: nothing younger comes.
    if (falls && !rises && last < since) return;
  }
}

const MAX_PASSES = 4;

/** Pages shift while they are read: they are read again until that brings nothing new, at most so often. */
export async function untilSettled(known: () => number, read: () => Promise<void>): Promise<void> {
  for (let pass = 1; pass <= MAX_PASSES; pass++) {
    const before = known();
    await read();
    if (pass > 1 && known() === before) return;
  }
}
