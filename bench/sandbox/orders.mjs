import { makeProduct } from './product.mjs';

const ORDERS = 100_000;
const PER_PAGE = 50;
const CALLS = 200;

/** Measures the time to read a page, by its position among 100,000 orders, and the memory of these orders. */
export async function benchOrders() {
  const { sandbox, client, account, product } = await makeProduct({ clock: 'manual' });
  const before = memory();
  const startedAt = performance.now();
  for (let count = 0; count < ORDERS; count++) await account.buy({ product_id: product.id });
  const perSecond = ORDERS / ((performance.now() - startedAt) / 1000);
  const perOrder = (memory() - before) / ORDERS;
  console.log(`\n${ORDERS.toLocaleString('en')} orders in one account`);
  console.log(`  bought${perSecond.toFixed(0).padStart(37)} a second`);
  console.log(`  memory${(perOrder / 1024).toFixed(2).padStart(37)} KiB each`);
  const pages = ORDERS / PER_PAGE;
  for (const page of [1, pages / 2, pages]) {
    const ms = await timeOf(() => client.orders.list({ page, perPage: PER_PAGE }));
    console.log(`  page ${`${page} of ${pages}`.padEnd(28)}${ms.toFixed(3).padStart(10)} ms`);
  }
  await sandbox.close();
}

async function timeOf(run) {
  const times = [];
  for (let call = 0; call < CALLS; call++) {
    const startedAt = performance.now();
    await run();
    times.push(performance.now() - startedAt);
  }
  return times.sort((a, b) => a - b)[CALLS >> 2];
}

function memory() {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
