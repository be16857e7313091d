import { benchOrders } from './orders.mjs';
import { benchReads } from './reads.mjs';
import { benchStart } from './start.mjs';
import { benchWebhooks } from './webhooks.mjs';

/** The sandbox: its reads, many orders, its webhooks, and how soon it answers. */
export async function benchSandbox() {
  await benchReads();
  await benchOrders();
  await benchWebhooks();
  await benchStart();
}
