import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createReceiver, type IdempotencyStore } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';

/** The server at the address of a shop: its receiver, a page that answers 200 to everything, or no server. */
export type Answering = 'receiver' | 'maintenance' | 'nobody';

/** Opens a shop that counts what it does for each order. At first, nothing answers at its address. */
export async function openShop(secret: string, store: IdempotencyStore) {
  const delivered = new Map<string, number>();
  const mailed = new Map<string, number>();
  const receiver = createReceiver({ secret, store, hooks: { onError() {}, onRejected() {} } })
    .on('order:paid', ({ payload: { id } }) => count(delivered, id), {
      name: 'deliver',
      oncePer: ({ id }) => id,
    })
    // A random key runs this handler for each delivery. Without an oncePer, recovery would not run orders that the log does not show.
    .on('order:paid', ({ payload: { id } }) => count(mailed, id), {
      name: 'mail',
      oncePer: () => crypto.randomUUID(),
    });
  const webhooks = toNodeHandler(receiver);
  const port = await findPort();
  let server: Server | undefined;
  const answer = async (as: Answering) => {
    const closed = server && once(server, 'close');
    server?.close().closeAllConnections();
    await closed;
    server = undefined;
    if (as === 'nobody') return;
    const listener: RequestListener = as === 'receiver' ? webhooks : maintenance;
    server = createServer(listener).listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  return {
    receiver,
    url: `http://127.0.0.1:${port}/webhooks`,
    delivered,
    /** How often the handlers of an order have run, even if `deliver` was already completed. */
    mailed,
    answer,
    async close() {
      await answer('nobody');
      await receiver.close();
    },
  };
}

function count(times: Map<string, number>, id: string): void {
  times.set(id, (times.get(id) ?? 0) + 1);
}

const maintenance: RequestListener = (_, response) =>
  void response.end('<h1>We will be back soon.</h1>');

/** Finds a free port, which stays unused while the shop is down. */
async function findPort(): Promise<number> {
  const finder = createServer().listen(0, '127.0.0.1');
  await once(finder, 'listening');
  const { port } = finder.address() as AddressInfo;
  finder.close();
  await once(finder, 'close');
  return port;
}
