import type { memoryStore as MemoryStore } from 'storefront-webhooks';
import type {
  createGoods as CreateGoods,
  GoodsOptions,
  MakeGoods,
} from 'storefront-webhooks/goods';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { version } from '../../package.json' with { type: 'json' };
import { call, ORDER, SECRET } from './calls.js';

let memoryStore: typeof MemoryStore;
let createGoods: typeof CreateGoods;
let lines: string[] = [];

// Some lines are logged once per process, perhaps already by modules of another file.
beforeAll(async () => {
  vi.resetModules();
  ({ memoryStore } = await import('storefront-webhooks'));
  ({ createGoods } = await import('storefront-webhooks/goods'));
});

beforeEach(() => {
  lines = [];
  const write = (line: string) => void lines.push(line);
  vi.spyOn(console, 'error').mockImplementation(write);
  vi.spyOn(console, 'warn').mockImplementation(write);
});
afterEach(() => vi.restoreAllMocks());

const IN_USE = `storefront-webhooks: version ${version} is in use. It serves goods; headers: X-Service-*; store: memory.`;
const told = () => lines.filter((line) => line !== IN_USE);

const shop = (make: MakeGoods, options: Partial<GoodsOptions> = {}) =>
  createGoods({ secret: SECRET, store: memoryStore(), ...options }, make);

test('the first call logs the configuration once, and successful calls log nothing', async () => {
  const goods = shop(() => 'KEY-1');
  for (let time = 0; time < 3; time++) await call(goods);
  expect(lines).toEqual([IN_USE]);
});

test('a failure is logged with the order but without its content', async () => {
  const goods = shop(() => {
    throw new Error('no key is left');
  });
  await call(goods, { ...ORDER, email: 'buyer@example.com' });
  expect(told()).toEqual([
    expect.stringMatching(
      /^storefront-webhooks: error in the handler "goods" for delivery "ord_1" \("goods", attempt 1\): Error: no key is left, at .*stderr\.test\.ts/,
    ),
  ]);
});

test('at most ten failures are logged in a minute', async () => {
  const goods = shop(() => {
    throw new Error('no key is left');
  });
  for (let id = 0; id < 30; id++) await call(goods, { ...ORDER, id: `ord_${id}` });
  expect(told()).toHaveLength(10);
});

test('a rejected order is logged with advice', async () => {
  const goods = shop(() => 'KEY-1');
  await call(goods, { ...ORDER, status: 56 });
  await call(goods, { status: 100 });
  expect(told()).toEqual([
    'storefront-webhooks: rejected delivery "ord_1" ("goods") with 422: The payload does not fit its event. ' +
      'Look at: status is 56 (refunded), and paidStatuses are [100]. See node_modules/storefront-webhooks/docs/errors.md#payload_invalid',
    'storefront-webhooks: rejected delivery "(none)" ("goods") with 422: The payload does not fit its event. ' +
      'Look at: id is missing. If the body holds more than the order, extract the order with `verify.order`. See node_modules/storefront-webhooks/docs/errors.md#payload_invalid',
  ]);
});

test('a rejected call is logged with advice', async () => {
  const goods = shop(() => 'KEY-1');
  await call(goods, ORDER, { secret: 'another secret' });
  const unsigned = createGoods({ verify: { signed: false, allow: () => false } }, () => 'KEY-1');
  await call(unsigned);
  expect(told()).toEqual([
    expect.stringContaining(
      'rejected a delivery because of the signature (401). The secret does not fit.',
    ),
    'storefront-webhooks: rejected a request with 403: This call is not allowed. `verify.allow` rejected this call. ' +
      'See node_modules/storefront-webhooks/docs/errors.md#call_refused',
  ]);
});

test('goods and the secret are in no line, no hook and no error', async () => {
  const goodsText = 'KEY-AAAA-BBBB';
  const onAny = vi.fn();
  const hooks = { onOutcome: onAny, onError: onAny, onRejected: onAny };
  const huge = goodsText.repeat(100_000);
  for (const options of [{ debug: true }, { hooks, debug: true }]) {
    const goods = shop(({ id }) => (id === 'huge' ? huge : goodsText), options);
    for (const id of ['ord_1', 'ord_1', 'huge']) await call(goods, { ...ORDER, id });
    await call(goods, ORDER, { secret: 'another secret' });
  }
  const all = lines.join() + JSON.stringify(onAny.mock.calls) + String(onAny.mock.calls);
  expect(all).toContain('ord_1');
  expect(all).not.toContain('AAAA');
  expect(all).not.toContain(Buffer.from(goodsText).toString('base64').slice(0, 12));
  expect(all).not.toContain(SECRET);
});

test('debug logs every call', async () => {
  const goods = shop(() => 'KEY-1', { debug: true });
  await call(goods);
  await call(goods);
  expect(told()).toEqual([
    expect.stringMatching(
      /delivery "ord_1" \("goods"\): handled in [\d.]+ ms, attempt 1, done: goods$/,
    ),
    expect.stringMatching(/delivery "ord_1" \("goods"\): duplicate in [\d.]+ ms, attempt 1$/),
  ]);
});

test('a hook gets the outcome of each call', async () => {
  const onOutcome = vi.fn();
  const goods = shop(() => 'KEY-1', { hooks: { onOutcome } });
  await call(goods);
  await call(goods);
  expect(onOutcome.mock.calls.map(([info]) => info)).toEqual([
    expect.objectContaining({ id: 'ord_1', event: 'goods', outcome: 'handled', ran: ['goods'] }),
    expect.objectContaining({ outcome: 'duplicate', ran: [], idReused: false }),
  ]);
});

test('telemetry gets each call and each run of the function, but no goods', async () => {
  const telemetry = {
    delivery: vi.fn((_about, run) => run()),
    handler: vi.fn((_about, run) => run()),
    rejected: vi.fn(),
    failed: vi.fn(),
    traceparent: () => undefined,
  };
  const goods = shop(() => 'KEY-1', { telemetry, hooks: { onRejected() {} } });
  await call(goods);
  await call(goods);
  await call(goods, ORDER, { secret: 'another secret' });
  expect(telemetry.delivery.mock.calls.map(([{ id, event, kind }]) => [id, event, kind])).toEqual([
    ['ord_1', 'goods', 'known'],
    ['ord_1', 'goods', 'known'],
  ]);
  expect(telemetry.handler.mock.calls.map(([about]) => about)).toEqual([
    { name: 'goods', attempt: 1 },
  ]);
  expect(await telemetry.handler.mock.results[0]?.value).toBeUndefined();
  expect(telemetry.rejected).toHaveBeenCalledOnce();
});

test('without a store, one warning explains that memory is lost with the process', async () => {
  const goods = createGoods({ secret: SECRET }, () => 'KEY-1');
  await call(goods);
  await call(createGoods({ secret: SECRET }, () => 'KEY-1'));
  const warnings = told().filter((line) => line.includes('in the memory of this process'));
  expect(warnings).toHaveLength(1);
});
