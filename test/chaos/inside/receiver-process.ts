import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createReceiver, type Receiver } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import type { FromReceiver, ToReceiver } from '../messages.js';
import { monotonicMs } from '../monotonic.js';
import { chaoticStore } from './chaotic-store.js';
import { type Effects, PRODUCTS } from './effects.js';
import { pass } from './faults-here.js';
import { openQueue } from './hand-off.js';
import { open } from './open.js';

const slowMs = Number(process.env.CHAOS_SLOW_MS ?? 0);
const tells = process.env.CHAOS_TELLS === '1';

function tell(message: FromReceiver): void {
  process.send?.(message);
}

function register(receiver: Receiver, effects: Effects): void {
  receiver.on(
    'order:paid',
    async ({ id, key, handler, attempt }) => {
      const started = monotonicMs();
      if (slowMs > 0) {
        tell({ kind: 'running', id, at: started });
        await new Promise((resolve) => setTimeout(resolve, slowMs));
      }
      pass('before-plain');
      await effects.ran({ delivery: id, key, handler, attempt, started });
      pass('after-plain');
    },
    { name: 'plain' },
  );
  receiver.on(
    'order:paid',
    async ({ id, key, handler }) => {
      pass('before-ledger');
      const product = Number(/\d+$/.exec(id)?.[0] ?? 0) % PRODUCTS;
      await effects.sell({ id, key, handler }, product, () => pass('in-transaction'));
      pass('after-commit');
    },
    { name: 'ledger' },
  );
  receiver.on(
    'order:paid',
    async ({ id, key, handler, attempt }) => {
      const started = monotonicMs();
      pass('before-finished');
      await effects.ran({ delivery: id, key, handler, attempt, started });
      pass('after-finished');
    },
    { name: 'finished' },
  );
}

async function main(): Promise<void> {
  const { store, effects, close } = await open();
  const chaotic = chaoticStore(store, effects, {
    lateMs: Number(process.env.CHAOS_LATE_MS ?? 0),
    onGranted: (id, at) => tells && tell({ kind: 'granted', id, at }),
    onAnswered: (id, at) => tells && tell({ kind: 'answered', id, at }),
  });
  const handOff = await openQueue(process.env.CHAOS_QUEUE ?? '');
  const receiver = createReceiver({
    ...(handOff && { queue: handOff.queue }),
    secret: process.env.CHAOS_SECRET,
    store: chaotic,
    hooks: {
      onError: (error) => tell({ kind: 'error', error: String(error) }),
      onRejected: () => {},
    },
  });
  register(receiver, effects);
  await handOff?.work(receiver);

  const server = createServer(toNodeHandler(receiver)).listen(0, '127.0.0.1');
  server.once('listening', () => {
    tell({ kind: 'listening', port: (server.address() as AddressInfo).port });
  });

  async function end(): Promise<void> {
    await receiver.close();
    server.close();
    await handOff?.close();
    await close();
    process.exit(0);
  }
  process.once('SIGTERM', () => void end());
  // The harness is gone.
  process.once('disconnect', () => process.exit(1));
  process.on('message', async (message: ToReceiver) => {
    if (message.kind !== 'redrive') return;
    let redriven = 0;
    for (const dead of await store.list({ state: 'dead', limit: 1_000 })) {
      await receiver.redrive(dead);
      redriven += 1;
    }
    tell({ kind: 'redriven', count: redriven });
  });
}

void main();
