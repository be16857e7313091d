import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { createClient } from 'storefront-webhooks/api';
import { createSandbox } from 'storefront-webhooks/sandbox';
import { replay } from 'storefront-webhooks/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { withRuntimes } from '../../runtimes/installed.js';
import { buildAndStartNext } from '../../runtimes/next.js';
import { makeProject } from '../../runtimes/project.js';
import { startPostgres, withPostgres } from '../../support/postgres.js';
import { builtCommand } from '../../support/program.js';
import { startRedis, withRedis } from '../../support/redis.js';

const HOUR = 60 * 60_000;
const WAIT = { timeout: 60_000, interval: 50 };

withRuntimes('the example in Next.js with a queue', () =>
  withPostgres('on PostgreSQL', () =>
    withRedis('and Redis', () => {
      test('is built without secrets, queues and delivers, and recover takes its receiver', async () => {
        const [project, postgres, redis] = await Promise.all([
          makeProject('next-queue'),
          startPostgres(),
          startRedis({ args: ['--maxmemory-policy', 'noeviction'] }),
        ]);
        onTestFinished(async () => {
          await Promise.all([project.remove(), postgres.remove(), redis.remove()]);
        });
        const { folder } = project;
        await cp('examples/next-queue', folder, { recursive: true });

        const sandbox = createSandbox({ clock: 'manual', unknowns: { retries: 'steady' } });
        onTestFinished(() => sandbox.close());
        const account = sandbox.account('sk_test_next_queue');
        const secrets = {
          WEBHOOK_SECRET: account.settings.webhook_secret,
          DATABASE_URL: postgres.url,
          REDIS_URL: redis.url,
        };
        const next = await buildAndStartNext(folder, secrets);
        onTestFinished(() => next.stop());
        const client = createClient({
          baseUrl: 'http://localhost',
          auth: { accessToken: account.key },
          fetch: sandbox.fetch,
        });
        const url = `${next.origin}/webhooks`;
        await client.webhookEndpoints.create({ url, events: ['order:paid'] });
        const { id: product_id } = await client.products.create({
          ...{ title: 'Key', description: '', product_type: 'service', price: 9.99 },
          ...{ currency: 'USD', gateways: ['paypal'] },
        });
        const sell = async () => {
          const order = await account.buy({ product_id, email: 'ada@example.com' });
          await account.pay(order.id);
          await account.idle();
          return order.id;
        };

        const run = (args: readonly string[]) => {
          const env = { ...process.env, ...secrets, ACCESS_TOKEN: account.key };
          const child = spawn(process.execPath, ['--import', 'tsx', ...args], { cwd: folder, env });
          let output = '';
          for (const stream of [child.stdout, child.stderr])
            stream.on('data', (piece) => {
              output += piece;
            });
          const ended = new Promise((resolve) => child.once('close', resolve));
          onTestFinished(async () => {
            child.kill();
            await ended;
          });
          return { output: () => output, ended };
        };
        const worker = run(['worker.ts']);
        const live = await sell();
        const { items } = await client.webhookLogs.list();
        expect(items.map(({ response }) => response)).toEqual([expect.stringContaining('queued')]);
        await vi.waitFor(() => expect(worker.output()).toContain(`Delivered order ${live}`), WAIT);
        // This order is paid, and no order:paid reports it.
        const { outcome } = await replay(url, 'order:updated', { secret: secrets.WEBHOOK_SECRET });
        expect(outcome).toBe('queued');
        await vi.waitFor(
          () => expect(worker.output()).toContain('Delivered order ord_updated'),
          WAIT,
        );

        await next.stop();
        const missed = await sell();
        await account.clock.advance(72 * HOUR);
        const { url: api } = await sandbox.listen();
        const now = new Date(account.clock.now() + HOUR).toISOString();
        const source = ['--receiver', 'receiver.ts', '--url', url, '--api', api, '--now', now];
        const recover = run([builtCommand(), 'recover', ...source, '--apply']);
        expect([await recover.ended, recover.output()]).toEqual([
          0,
          expect.stringContaining('"complete":true'),
        ]);
        await vi.waitFor(
          () => expect(recover.output() + worker.output()).toContain(`Delivered order ${missed}`),
          WAIT,
        );
      }, 300_000);
    }),
  ),
);

test('without a secret, no call of makeReceiver connects to anything', async () => {
  let connections = 0;
  const server = createServer(() => {
    connections += 1;
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  vi.stubEnv('WEBHOOK_SECRET', undefined);
  vi.stubEnv('REDIS_URL', `redis://127.0.0.1:${port}`);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    server.close();
  });
  const { makeReceiver } = await import('../../../examples/next-queue/receiver.js');
  for (let request = 0; request < 3; request++)
    expect(makeReceiver).toThrow('Set WEBHOOK_SECRET to the webhook secret of your account.');
  // The server accepts connections in their order, so this one comes last.
  await new Promise((resolve) => setTimeout(resolve, 200));
  const last = connect(port, '127.0.0.1');
  onTestFinished(() => void last.destroy());
  await vi.waitFor(() => expect(connections).toBeGreaterThan(0));
  expect(connections).toBe(1);
});
