import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Database from 'libsql';
import { createReceiver, type Order, type SecretRequest } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { sqliteStore } from 'storefront-webhooks/sqlite';

/** The secret of each shop, by the last part of its webhook address: /webhooks/keys, /webhooks/games. */
const SECRETS = new Map([
  ['keys', process.env.KEYS_SECRET],
  ['games', process.env.GAMES_SECRET],
]);
// Otherwise, each delivery of that shop would be answered 401, like one of an unknown shop.
for (const [shop, secret] of SECRETS)
  if (!secret) throw new Error(`Set the secret of the shop ${shop}.`);

/**
 * Returns the secret of the shop that the URL names. A forger can name any shop, but does not have its secret.
 * `null`, for an unknown shop, is answered 401.
 */
function findShop({ url = '' }: SecretRequest) {
  const [, name = ''] = /^\/webhooks\/([^/?]+)/.exec(url) ?? [];
  const secret = SECRETS.get(name);
  return secret ? { secret, scope: name } : null;
}

const database = new Database(process.env.DATABASE_FILE ?? 'webhooks.db');

const receiver = createReceiver({ secret: findShop, store: sqliteStore(database) }).onPaid(
  ({ payload: order, scope: shop }) => deliver(shop, order),
);

async function deliver(shop: string, order: Order) {
  console.log(`Delivered order ${order.id} of ${shop}`);
}

const server = createServer(toNodeHandler(receiver));

server.listen(process.env.PORT ?? 3000, () => {
  const { port } = server.address() as AddressInfo;
  console.log(`Listening on http://localhost:${port}/webhooks/keys and /webhooks/games`);
});

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, async () => {
    await receiver.close({ server });
    database.close();
  });
}
