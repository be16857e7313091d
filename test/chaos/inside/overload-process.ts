import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createReceiver } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import type { FromReceiver, Loaded } from '../messages.js';
import { breakLoad, secrets } from './broken-load.js';
import { openStore } from './open.js';

/** The duration of a handler, about that of a call to an external service. */
const HANDLER_MS = 50;
const TELL_MS = 250;

const handled = new Map<string, number>();
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();

function tell(message: FromReceiver): void {
  process.send?.(message);
}

async function main(): Promise<void> {
  breakLoad();
  const { store, close } = await openStore({ connections: Number(process.env.CHAOS_CONNECTIONS) });
  const errors = new Map<string, number>();
  const count = (error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    errors.set(code, (errors.get(code) ?? 0) + 1);
  };
  const receiver = createReceiver({
    secret: secrets(),
    store,
    hooks: { onError: count, onRejected: () => {} },
  }).on(
    'order:paid',
    async ({ payload }) => {
      await new Promise((resolve) => setTimeout(resolve, HANDLER_MS));
      handled.set(payload.id, (handled.get(payload.id) ?? 0) + 1);
    },
    { name: 'deliver', oncePer: ({ id }) => id },
  );
  const server = createServer({ keepAliveTimeout: 30_000 }, toNodeHandler(receiver));
  // A sender has enough ports for these connections only if it uses several addresses.
  server.listen(0, '0.0.0.0', 65_535);
  server.once('listening', () => {
    tell({ kind: 'listening', port: (server.address() as AddressInfo).port });
  });
  let mostRss = 0;
  const measure = (): Loaded => {
    mostRss = Math.max(mostRss, process.memoryUsage.rss());
    return {
      handled: handled.size,
      twice: [...handled.values()].filter((times) => times > 1).length,
      mostRss,
      stillMs: delay.max / 1e6,
      errors: Object.fromEntries(errors),
    };
  };
  setInterval(() => tell({ kind: 'loaded', loaded: measure() }), TELL_MS);
  process.once('SIGTERM', async () => {
    await receiver.close({ server });
    tell({ kind: 'loaded', loaded: measure() });
    await close();
    process.exit(0);
  });
  process.once('disconnect', () => process.exit(1));
}

void main();
