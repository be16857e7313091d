import Database from 'libsql';
import { createReceiver } from 'storefront-webhooks';
import { durableObjectStore, WebhookDeliveries } from 'storefront-webhooks/cloudflare';
import { expect, onTestFinished, test } from 'vitest';
import {
  CONTENT_TYPE,
  decode,
  encode,
  OTHER_VERSION,
  toUrl,
  type Verb,
} from '../../../src/stores/durable-object/frames.js';
import { LONG_AGO_MS } from '../model.js';
import { newDelivery } from '../suite.js';
import { StorageOverLibsql } from './over-libsql.js';

/** A namespace whose objects always give the same answer. */
function namespace(answer: () => Response) {
  const asked: string[] = [];
  return {
    asked,
    idFromName: (name: string) => name,
    get: (id: unknown) => ({
      fetch: async () => {
        asked.push(String(id));
        return answer();
      },
    }),
  };
}

const lease = { owner: 'a', leaseMs: 1, keepMs: 1, maxCrashes: 1 };
const toAnyUrl = (verb: string) => toUrl(verb as Verb);
const foreign = () => new Response('hello');

test.each([
  ['', '0 of 16'],
  ['0f', '0 of 16'],
  ['10', '1 of 16'],
  ['ff', '15 of 16'],
])('a key that begins with %j belongs to the object %j', async (digits, name) => {
  const objects = namespace(foreign);
  const store = durableObjectStore(objects);
  const key = digits + '0'.repeat(64 - digits.length);
  await expect(store.renew(key, 1, 1)).rejects.toThrow();
  expect(objects.asked).toEqual([name]);
});

test('the last key belongs to the last object, for any number of objects', async () => {
  for (const shards of [1, 2, 3, 7, 100, 256]) {
    const objects = namespace(foreign);
    const store = durableObjectStore(objects, { shards });
    await expect(store.renew('f'.repeat(64), 1, 1)).rejects.toThrow();
    expect(objects.asked).toEqual([`${shards - 1} of ${shards}`]);
  }
});

test('the description has the number of objects', () => {
  const objects = namespace(foreign);
  expect(durableObjectStore(objects).description).toBe('Durable Objects (16 shards)');
  expect(durableObjectStore(objects, { shards: 1 }).description).toBe('Durable Objects (1 shard)');
});

test('objects of another class are reported as a mistake in the configuration', async () => {
  const store = durableObjectStore(namespace(foreign));
  await expect(store.claim(newDelivery(), lease)).rejects.toMatchObject({
    code: 'client_invalid',
    message: expect.stringContaining('"class_name": "WebhookDeliveries"'),
  });
});

test('an object of the previous version, which keeps no proof, accepts a delivery without it', async () => {
  const asked: [url: string, values: unknown][] = [];
  const headers = { 'content-type': CONTENT_TYPE };
  const store = durableObjectStore({
    idFromName: (name: string) => name,
    get: () => ({
      fetch: async (url, { body }) => {
        asked.push([url, decode(body.buffer)]);
        const isKnown = url === toUrl('claim');
        const row = { state: 'leased', owner: 'a', fence: 7, attempts: 1, handlers: '{}', wait: 0 };
        const answer = isKnown ? [row] : { error: OTHER_VERSION };
        return new Response(encode(answer), { status: isKnown ? 200 : 500, headers });
      },
    }),
  });
  const delivery = newDelivery();
  const proved = { ...delivery, proof: 'the proof' };
  expect(await store.claim(proved, lease)).toMatchObject({ state: 'acquired', fence: 7 });
  expect(await store.claim(delivery, lease)).toMatchObject({ state: 'acquired', fence: 7 });
  const [first, second, third] = asked.map(([, values]) => values);
  expect(asked.map(([url]) => url)).toEqual(['claimProved', 'claim', 'claim'].map(toAnyUrl));
  expect(second).toEqual(third);
  expect(first).toEqual(['the proof'].concat(third as string[]));
});

test('an answer of an object has at most 20 bodies, so that those of the largest size fit in memory', async () => {
  const database = new Database(':memory:');
  onTestFinished(() => void database.close());
  const alarms = { getAlarm: async () => null, setAlarm: async () => {} };
  const storage = Object.assign(new StorageOverLibsql(database), alarms);
  const object = new WebhookDeliveries({ storage });
  let largest = 0;
  const store = durableObjectStore({
    idFromName: (name: string) => name,
    get: () => ({
      fetch: async (url, init) => {
        const answer = await object.fetch(new Request(url, init));
        largest = Math.max(largest, (await answer.clone().arrayBuffer()).byteLength);
        return answer;
      },
    }),
  });
  const body = new Uint8Array(10_000);
  for (let n = 0; n < 50; n++)
    await store.claim({ ...newDelivery(), body }, { ...lease, leaseMs: LONG_AGO_MS });
  expect(await store.list({ state: 'stalled', limit: 50 })).toHaveLength(50);
  expect(largest).toBeLessThan(21 * body.length);
});

test.each([0, -1, 1.5, 257, Number.NaN])('%d shards are rejected', (shards) => {
  expect(() => durableObjectStore(namespace(foreign), { shards })).toThrow(
    expect.objectContaining({ code: 'option_invalid' }),
  );
});

test.each([
  ['nothing', undefined],
  ['text', 'DELIVERIES'],
  ['a database', { prepare() {}, batch() {} }],
  ['an object that seems to have every method', new Proxy({}, { get: () => () => {} })],
])('%s is not a namespace', (_, binding) => {
  expect(() => durableObjectStore(binding as never)).toThrow(
    expect.objectContaining({
      code: 'client_invalid',
      message: expect.stringContaining('"new_sqlite_classes": ["WebhookDeliveries"]'),
    }),
  );
});

test('a receiver accepts no body that does not fit in a row', () => {
  const store = durableObjectStore(namespace(foreign));
  expect(() => createReceiver({ secret: 'a secret', store, limit: 1_900_001 })).toThrow(
    'at most 1900000',
  );
});
