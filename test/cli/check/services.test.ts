import { isPaid, type Order, type Receiver } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { expect, onTestFinished, test, vi } from 'vitest';
import { recordsIn, run } from '../command.js';
import { SECRET, serveEndpoint } from './endpoints.js';

/** The rows that depend on the form of an order: its event, status, id and style. */
const ROWS = [
  ...['paid', 'duplicate', 'both-events', 'relabelled', 'reordered', 'refunded', 'unpaid'],
  ...['forged-event', 'unknown-event', 'tampered', 'escapes', 'numbers'],
];

const file = (name: string) => `examples/services/${name}.hook.json`;

test.each([
  ['sellix', 'X-Sellix-'],
  ['shoppex', 'X-Shoppex-'],
  ['shoppy', 'X-Shoppy-'],
])('check sends orders in the form of %s, paid and unpaid', async (name, prefix) => {
  vi.stubEnv('WEBHOOK_SECRET', SECRET);
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.resetModules();
  const { receiver }: { receiver: Receiver } = await import(
    `../../../examples/services/${name}.ts`
  );
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const endpoint = await serveEndpoint(({ hand }) => {
    receiver.on(
      ['order:paid', 'order:updated'],
      ({ payload }: { payload: Order }) => hand(payload.id),
      {
        name: 'deliver',
        when: isPaid,
        oncePer: (order) => order.id,
      },
    );
    return toNodeHandler(receiver);
  });
  onTestFinished(() => endpoint.stop());
  const { stdout } = await run(
    [
      ...['check', endpoint.url.href, '--header-prefix', prefix],
      ...['--order', file(name), '--unpaid', file(`${name}-pending`)],
      ...['--observe', `${endpoint.url.origin}/goods/{order}`],
      ...ROWS.flatMap((row) => ['--only', row]),
    ],
    { env: { WEBHOOK_SECRET: SECRET, NO_COLOR: '1' } },
  );
  const results = recordsIn(stdout);
  expect(results.filter(({ verdict }) => verdict !== 'passed')).toEqual([]);
  expect(results).toHaveLength(ROWS.length);
});

test('check asks for an unpaid order if it cannot make one itself', async () => {
  const { status, stdout, stderr } = await run(
    ['check', 'http://localhost:1/', '--order', file('sellix')],
    { env: { WEBHOOK_SECRET: SECRET } },
  );
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toContain('--unpaid');
});
