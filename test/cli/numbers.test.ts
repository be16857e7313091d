import { expect, test } from 'vitest';
import { openShop, run, SECRET } from './command.js';

const env = { WEBHOOK_SECRET: SECRET };
const url = 'http://127.0.0.1:1/webhooks';

test.each([
  ['dead redrive nowhere.db --to http://127.0.0.1:1/ --apply --timeout', 2147483647],
  [`send order:paid ${url} --timeout`, 2147483647],
  [`replay order:paid ${url} --timeout`, 2147483647],
  [`check ${url} --timeout`, 2147483647],
  [`check ${url} --goods-within`, 2147483647],
  [`record ${url} --timeout`, 2147483647],
  [`record ${url} --port`, 65535],
  ['doctor --listen 0 --timeout', 2147483647],
  ['doctor --listen', 65535],
  ['sandbox --port', 65535],
  [`send order:paid ${url} --duplicate`, 1000000],
])('%s takes %i at most', async (command, most) => {
  const { status, stdout, stderr } = await run([...command.split(' '), `${most + 1}`], { env });
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toContain(`Give ${most} at most.`);
});

test('the greatest port may be listened on', async () => {
  const { status, stderr } = await run(['record', 'nowhere', '--port', '65535'], { env });
  expect([status, stderr]).toEqual([2, expect.not.stringContaining('at most')]);
});

test('any number of deliveries may be sent at once', async () => {
  const { url: shop } = await openShop();
  const args = ['send', 'order:paid', shop, '--duplicate', '2', '--concurrency', '10000000000'];
  const { status, records } = await run(args, { env });
  expect([status, records()]).toMatchObject([0, [{ good: true }, { good: true }]]);
});
