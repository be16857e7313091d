import { benchOrders } from './orders.mjs';
import { benchReads } from './reads.mjs';
import { benchStart } from './start.mjs';
import { benchWebhooks } from './webhooks.mjs';

/** Measures the sandbox: its reads, many orders, its webhooks, and the time to its first answer. */
export async function benchSandbox() {
  await benchReads();
  await benchOrders();
  await benchWebhooks();
  await benchStart();
}
