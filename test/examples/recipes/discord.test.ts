import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { type Fixture, loadFixture, replay } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startExample } from '../../support/program.js';
import type { Started } from '../../support/start.js';

const WEBHOOK_SECRET = 'a secret for tests';
const MEMBERS = [
  { user: { id: '17', username: 'ada' } },
  { user: { id: '18', username: 'ada.lovelace' } },
];

/** Simulates Discord, and records the requests. */
let asked: { line: string; body?: unknown }[] = [];
let isDown = false;
const discord: Server = createServer(async (request, response) => {
  const line = `${request.method} ${request.url}`;
  if (isDown && line.includes('/messages')) {
    response.writeHead(503).end('{}');
    return;
  }
  expect(request.headers.authorization).toBe('Bot a-token');
  const body = request.method === 'POST' ? await json(request) : undefined;
  asked.push(body === undefined ? { line } : { line, body });
  const isTooLong = Object(body).content?.length > 2000;
  response.writeHead(isTooLong ? 400 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(request.method === 'GET' ? MEMBERS : {}));
});

describe('the Discord recipe', () => {
  let folder: string;
  let shop: Started;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'discord-'));
    await new Promise<void>((resolve) => discord.listen(0, '127.0.0.1', resolve));
    const env = {
      WEBHOOK_SECRET,
      DATABASE_FILE: join(folder, 'webhooks.db'),
      DISCORD_API: `http://127.0.0.1:${(discord.address() as AddressInfo).port}`,
      DISCORD_TOKEN: 'a-token',
      DISCORD_GUILD: 'g',
      DISCORD_ROLE: 'r',
      DISCORD_CHANNEL: 'c',
    };
    shop = await startExample('examples/recipes/discord.ts', {
      env,
    });
  });
  afterAll(async () => {
    await shop?.stop();
    discord.close();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    asked = [];
    isDown = false;
  });

  const saved = loadFixture('order:paid');
  const sold = (id: string, custom: unknown, status = 100, changes: object = {}): Fixture => {
    const order = { ...JSON.parse(new TextDecoder().decode(saved.body)), ...changes };
    const body = new TextEncoder().encode(JSON.stringify({ ...order, id, custom, status }));
    return { ...saved, body };
  };
  const send = async (fixture: Fixture, event: string, id: string) =>
    (await replay(`${shop.origin}/webhooks`, fixture, { event, id, secret: WEBHOOK_SECRET }))
      .outcome;
  const done = () => asked.map(({ line }) => line);

  test.each<[string, unknown]>([
    ['an object', { Discord: ' Ada ' }],
    ['a list', [{ name: 'discord', value: 'ada' }]],
  ])(
    'gives the role and posts once, with the name from %s, for either event',
    async (form, custom) => {
      const order = sold(`ord ${form}`, custom);
      const unpaid = sold(`ord ${form}`, custom, 0);
      expect(await send(unpaid, 'order:updated', `${form} 0`)).toBe('ignored');
      expect(await send(order, 'order:updated', `${form} 1`)).toBe('handled');
      expect(await send(order, 'order:paid', `${form} 2`)).toBe('duplicate');
      const [find = '', ...rest] = done();
      expect(find).toMatch(/^GET \/guilds\/g\/members\/search\?query=ada&/i);
      expect(rest).toEqual(['PUT /guilds/g/members/17/roles/r', 'POST /channels/c/messages']);
      expect(asked.at(-1)?.body).toMatchObject({
        allowed_mentions: { parse: [] },
        nonce: expect.stringMatching(/^[0-9a-f]{25}$/),
      });
    },
  );

  test.each([[{}], [[]], [null], ['ada'], [{ Discord: '@everyone' }]])(
    "posts a request to give the role by hand if %j contains no member's name",
    async (custom) => {
      const name = JSON.stringify(custom);
      expect(await send(sold(`no ${name}`, custom), 'order:paid', name)).toBe('handled');
      expect(done().at(-1)).toBe('POST /channels/c/messages');
      expect(done().filter((line) => line.startsWith('PUT'))).toEqual([]);
      expect(JSON.stringify(asked.at(-1)?.body)).toContain('the role by hand');
    },
  );

  test.each([
    ['is longer than a message may be', 'a'.repeat(5000)],
    ['forges a line', 'ada)\nSold: Premium (ada'],
    ['forges a link', '[sign in](https://b.example)'],
  ])('posts a sale without the text of a checkout field that %s', async (what, text) => {
    const order = sold(`ord ${what}`, { Discord: text });
    expect(await send(order, 'order:paid', what)).toBe('handled');
    expect(done()).toEqual(['POST /channels/c/messages']);
    expect(JSON.stringify(asked.at(-1)?.body)).toContain(' (give the buyer the role by hand)');
  });

  test.each([
    ['missing', undefined],
    ['null', null],
    ['a number', 7],
  ])('posts the id of an order whose product title is %s', async (what, product_title) => {
    const id = `titled ${what}`;
    const order = sold(id, { Discord: 'ada' }, 100, { product_title });
    expect(await send(order, 'order:paid', id)).toBe('handled');
    expect(asked.at(-1)?.body).toMatchObject({ content: `Sold: ${id}` });
  });

  test('posts a name of which there is no member', async () => {
    const order = sold('ord_old', { Discord: 'ada#1234' });
    expect(await send(order, 'order:paid', 'old')).toBe('handled');
    expect(JSON.stringify(asked.at(-1)?.body)).toContain(' (give ada#1234 the role by hand)');
  });

  test('gives the role once if the message fails the first time', async () => {
    const order = sold('ord_down', { Discord: 'ada' });
    isDown = true;
    expect(await send(order, 'order:paid', 'down')).toBe('failed');
    isDown = false;
    expect(await send(order, 'order:paid', 'down')).toBe('handled');
    expect(done().filter((line) => line.startsWith('PUT'))).toHaveLength(1);
    expect(done().filter((line) => line.startsWith('POST'))).toHaveLength(1);
  });
});
