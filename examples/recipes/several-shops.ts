import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Database from 'libsql';
import { createReceiver, type Order, type SecretRequest } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { sqliteStore } from 'storefront-webhooks/sqlite';

/** By the last part of the address that each shop sends to: /webhooks/keys, /webhooks/games. */
const SECRETS = new Map([
  ['keys', process.env.KEYS_SECRET ?? ''],
  ['games', process.env.GAMES_SECRET ?? ''],
]);

/** Anybody can ask for a shop: its secret then has to fit. `null` where there is none, which is a 401. */
function findShop({ url = '' }: SecretRequest) {
  const [, name = ''] = /^\/webhooks\/([^/?]+)/.exec(url) ?? [];
  const secret = SECRETS.get(name);
  return secret ? { secret, scope: name } : null;
}

const database = new Database(process.env.DATABASE_FILE ?? 'webhooks.db');

const receiver = createReceiver({ secret: findShop, store: sqliteStore(database) }).on(
  'order:paid',
  ({ payload: order, scope: shop }) => deliver(shop, order),
  { name: 'deliver', oncePer: (order) => order.id },
);

async function deliver(shop: string, order: Order) {
  console.log(`Delivered order ${order.id} of ${shop}`);
}

const server = createServer(toNodeHandler(receiver));

server.listen(process.env.PORT ?? 3000, () => {
  const { port } = server.address() as AddressInfo;
  console.log(`Listening on http://localhost:${port}/webhooks/keys and /webhooks/games`);
});

process.once('SIGTERM', async () => {
  await receiver.close({ server });
  database.close();
});
