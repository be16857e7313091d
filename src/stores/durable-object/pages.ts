import type { ReadFilter } from '../contract.js';
import type { StoredDelivery } from '../store.js';

/** How many bodies of the largest size fit into one answer. */
const PAGE = 20;

/** Lists in small pages, so that no isolate holds many bodies in addition to its result. */
export async function listInPages(
  ask: (filter: ReadFilter) => Promise<readonly StoredDelivery[]>,
  filter: ReadFilter,
): Promise<StoredDelivery[]> {
  const found: StoredDelivery[] = [];
  while (found.length < filter.limit) {
    const most = Math.min(PAGE, filter.limit - found.length);
    const after = found.at(-1)?.key ?? filter.after;
    const page = await ask({ ...filter, after, limit: most });
    found.push(...page);
    if (page.length < most) break;
  }
  return found;
}
