import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createReceiver } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import type { FromReceiver, ToReceiver } from '../messages.js';
import { chaoticStore } from './chaotic-store.js';
import { openGoods } from './goods.js';
import { openQueue } from './hand-off.js';
import { register } from './handlers.js';
import { losingClaims } from './losing-claims.js';
import { open } from './open.js';
import { registerOrders } from './order-handler.js';
import { registerSale } from './sale-handler.js';

const tells = process.env.CHAOS_TELLS === '1';
const lostClaims = Number(process.env.CHAOS_LOSE_CLAIMS ?? 0);
/** The `keepDays` of version `b`. Version `a` has the default. */
const KEEP_DAYS = 45;

function tell(message: FromReceiver): void {
  process.send?.(message);
}

async function main(): Promise<void> {
  const { store, effects, close } = await open();
  const chaotic = chaoticStore(lostClaims > 0 ? losingClaims(store, lostClaims) : store, effects, {
    lateMs: Number(process.env.CHAOS_LATE_MS ?? 0),
    onGranted: (id, at) => tells && tell({ kind: 'granted', id, at }),
    onAnswered: (id, at) => tells && tell({ kind: 'answered', id, at }),
  });
  const handOff = await openQueue(process.env.CHAOS_QUEUE ?? '');
  const receiver = createReceiver({
    ...(handOff && { queue: handOff.queue }),
    ...(process.env.CHAOS_VERSION === 'b' && { keepDays: KEEP_DAYS }),
    secret: process.env.CHAOS_SECRET,
    store: chaotic,
    hooks: {
      onError: (error, { id }) =>
        tell({ kind: 'error', error: `${codeOf(error)}: ${error}${causeOf(error)}`, id }),
      onRejected: () => {},
    },
  });
  if (process.env.CHAOS_HANDLERS === 'orders') registerOrders(receiver, effects);
  else if (process.env.CHAOS_HANDLERS === 'transaction') registerSale(receiver);
  else register(receiver, effects, tell);
  await handOff?.work(receiver);

  const onGoodsError = (error: unknown) =>
    tell({ kind: 'error', error: `${codeOf(error)}: ${error}` });
  const goods = process.env.CHAOS_GOODS ? openGoods(chaotic, effects, onGoodsError) : undefined;

  const webhooks = toNodeHandler(receiver);
  const toGoods = goods && toNodeHandler(goods);
  const server = createServer((request, response) =>
    toGoods && request.url === '/goods' ? toGoods(request, response) : webhooks(request, response),
  ).listen(0, '127.0.0.1');
  server.once('listening', () => {
    tell({ kind: 'listening', port: (server.address() as AddressInfo).port });
  });

  async function end(): Promise<void> {
    // Close the receiver before its server: new requests still arrive, and get 503.
    if (process.env.CHAOS_BREAK === 'stop-first' || process.env.CHAOS_CLOSE === 'receiver')
      await receiver.close();
    else if (process.env.CHAOS_BREAK === 'abrupt') {
      server.close();
      await receiver.close();
    } else await Promise.all([receiver.close({ server }), goods?.close({ server })]);
    if (server.listening) server.close();
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

function causeOf(error: unknown): string {
  return error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : 'of a handler';
}

void main();
