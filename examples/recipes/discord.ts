import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Database from 'libsql';
import { createReceiver, type Json, type Order, type WebhookEvent } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { sqliteStore } from 'storefront-webhooks/sqlite';

const { DISCORD_TOKEN, DISCORD_GUILD, DISCORD_ROLE, DISCORD_CHANNEL } = process.env;
const DISCORD = process.env.DISCORD_API ?? 'https://discord.com/api/v10';

const database = new Database(process.env.DATABASE_FILE ?? 'webhooks.db');
const receiver = createReceiver({
  secret: process.env.WEBHOOK_SECRET,
  store: sqliteStore(database),
}).onPaid(welcome);

async function welcome({ payload: order, key, once, signal }: WebhookEvent<string, Order>) {
  const name = nameOf(order.custom, 'Discord');
  // Each step runs once, even if a later step fails and the delivery is retried.
  const isMember = await once('role', async () => name !== undefined && giveRole(name, signal));
  const todo = isMember ? '' : ` (give ${name ?? 'the buyer'} the role by hand)`;
  await once('message', async () => {
    await discord(signal, 'POST', `/channels/${DISCORD_CHANNEL}/messages`, {
      content: `Sold: ${order.product_title ?? order.id}${todo}`,
      // A buyer's text must not mention @everyone.
      allowed_mentions: { parse: [] },
      // If the message is sent again within a few minutes, Discord knows it by this nonce.
      nonce: key.slice(0, 25),
      enforce_nonce: true,
    });
  });
}

/** Reads a Discord user name from `{ Discord: 'name' }`, or from `[{ name: 'Discord', value: 'name' }]`. */
function nameOf(custom: Json | undefined, wanted: string): string | undefined {
  if (typeof custom !== 'object' || custom === null) return undefined;
  const fields = Array.isArray(custom)
    ? custom.map((field): [unknown, unknown] => [Object(field).name, Object(field).value])
    : Object.entries(custom);
  const found = fields.find(([name]) => `${name}`.toLowerCase() === wanted.toLowerCase())?.[1];
  const name = typeof found === 'string' ? found.trim() : '';
  // Any other text of a buyer could forge lines and links in the message.
  return /^[\w.]{2,32}(#\d{4})?$/.test(name) ? name : undefined;
}

/** Gives the role to a member. Returns whether there is such a member. */
async function giveRole(name: string, signal: AbortSignal): Promise<boolean> {
  const guild = `/guilds/${DISCORD_GUILD}/members`;
  const query = new URLSearchParams({ query: name, limit: '10' });
  const found = await discord(signal, 'GET', `${guild}/search?${query}`);
  const members = (await found.json()) as { user: { id: string; username: string } }[];
  // The search returns all members whose name begins with this one.
  const member = members.find(({ user }) => user.username.toLowerCase() === name.toLowerCase());
  if (member) await discord(signal, 'PUT', `${guild}/${member.user.id}/roles/${DISCORD_ROLE}`);
  return member !== undefined;
}

/** Calls Discord. Throws if Discord answers with an error, so that the delivery is retried. */
async function discord(signal: AbortSignal, method: string, path: string, body?: object) {
  const response = await fetch(DISCORD + path, {
    method,
    headers: { authorization: `Bot ${DISCORD_TOKEN}`, 'content-type': 'application/json' },
    body: body ? JSON.stringify(body) : null,
    signal: AbortSignal.any([signal, AbortSignal.timeout(8000)]),
  });
  if (!response.ok) throw new Error(`Discord answered ${method} with ${response.status}`);
  return response;
}

const server = createServer(toNodeHandler(receiver));

server.listen(process.env.PORT ?? 3000, () => {
  const { port } = server.address() as AddressInfo;
  console.log(`Listening on http://localhost:${port}/webhooks`);
});

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, async () => {
    await receiver.close({ server });
    database.close();
  });
}
