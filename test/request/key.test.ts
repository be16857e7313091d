import fc from 'fast-check';
import { createReceiver, type KeyBy, memoryStore } from 'storefront-webhooks';
import { type Fixture, loadFixture, replay } from 'storefront-webhooks/testing';
import { describe, expect, test } from 'vitest';
import {
  canonicalJson,
  contentId,
  contentOf,
  deliveryKey,
  effectKey,
  invalidKey,
  unprovenKey,
} from '../../src/request/key.js';
import { runs } from '../support/tier.js';

fc.configureGlobal({ seed: 15 });

const MODES: readonly KeyBy[] = ['delivery', 'content', 'id'];
const PARTS = { scope: 'shop', id: 'whl_1', event: 'order:paid', content: '["state","ord_1"]' };

const bytesOf = (text: string) => new TextEncoder().encode(text);
const contentOfText = (text: string) => contentOf(JSON.parse(text), bytesOf(text));

// A few short pieces, mostly separators, so that two lists often join to the same text.
const part = fc
  .array(fc.constantFrom('a', 'b', ':', ',', '"', '\\', '[', ']', '\0', '|', '/'), { maxLength: 4 })
  .map((pieces) => pieces.join(''));
const parts = fc.record({ scope: part, id: part, event: part, content: part });

describe('the key of a delivery', () => {
  test('is 64 hexadecimal digits, and the same each time', () => {
    fc.assert(
      fc.property(fc.constantFrom(...MODES), parts, (keyBy, parts) => {
        expect(deliveryKey(keyBy, parts)).toMatch(/^[0-9a-f]{64}$/);
        expect(deliveryKey(keyBy, { ...parts })).toBe(deliveryKey(keyBy, parts));
      }),
    );
  });

  test('changes with any of its parts', () => {
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        const same = JSON.stringify(Object.entries(a)) === JSON.stringify(Object.entries(b));
        expect(deliveryKey('delivery', a) === deliveryKey('delivery', b)).toBe(same);
      }),
      { numRuns: runs(1000) },
    );
  });

  test('changes with the end of an id or an event that is too long to be kept', () => {
    const long = 'x'.repeat(300);
    for (const name of ['id', 'event'] as const) {
      const keys = ['a', 'b'].map((end) =>
        deliveryKey('delivery', { ...PARTS, [name]: long + end }),
      );
      expect(new Set(keys).size, name).toBe(2);
    }
  });

  test('changes if a separator moves from one part to the next', () => {
    const halves = fc.tuple(part, fc.constantFrom(':', ',', '","', '\0', ''), part, part);
    fc.assert(
      fc.property(halves, ([left, separator, middle, right]) => {
        fc.pre(middle + separator !== '');
        const a = { ...PARTS, id: left + separator + middle, event: right };
        const b = { ...PARTS, id: left, event: separator + middle + right };
        expect(deliveryKey('delivery', a)).not.toBe(deliveryKey('delivery', b));
        const c = { ...PARTS, scope: a.id, event: right };
        const d = { ...PARTS, scope: left, event: b.event };
        expect(deliveryKey('content', c)).not.toBe(deliveryKey('content', d));
        expect(deliveryKey('id', { ...PARTS, scope: a.id, id: right })).not.toBe(
          deliveryKey('id', { ...PARTS, scope: left, id: b.event }),
        );
        expect(effectKey(a.id, right, 'k')).not.toBe(effectKey(left, b.event, 'k'));
        expect(effectKey('s', a.id, right)).not.toBe(effectKey('s', left, b.event));
      }),
    );
  });

  test('never equals a key of another mode or of an effect', () => {
    fc.assert(
      fc.property(parts, ({ scope, id, event, content }) => {
        const keys = MODES.map((keyBy) => deliveryKey(keyBy, { scope, id, event, content }));
        keys.push(effectKey(scope, event, content), effectKey(scope, id, event));
        keys.push(invalidKey({ scope, id, event }, bytesOf(content)));
        const distinct = event === id && content === event ? 5 : 6;
        expect(new Set(keys).size).toBe(distinct);
      }),
    );
  });

  test.each<[KeyBy, string[]]>([
    ['delivery', ['scope', 'id', 'event', 'content']],
    ['content', ['scope', 'event', 'content']],
    ['id', ['scope', 'id']],
  ])('by %s is made of %j', (keyBy, included) => {
    const changing = Object.keys(PARTS).filter(
      (name) => deliveryKey(keyBy, { ...PARTS, [name]: 'other' }) !== deliveryKey(keyBy, PARTS),
    );
    expect(changing).toEqual(included);
  });
});

describe('the key of a delivery with an invalid payload', () => {
  test('consists of scope, id, event and bytes, whatever the payload contains', () => {
    const key = invalidKey(PARTS, bytesOf('{}'));
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    expect(invalidKey({ ...PARTS }, bytesOf('{}'))).toBe(key);
    expect(invalidKey(PARTS, bytesOf('{} '))).not.toBe(key);
    const changing = Object.keys(PARTS).filter(
      (name) => invalidKey({ ...PARTS, [name]: 'other' }, bytesOf('{}')) !== key,
    );
    expect(changing).toEqual(['scope', 'id', 'event']);
  });
});

describe('the key of a delivery that could not be verified', () => {
  test('is made of scope, id, event, proof and the bytes, whatever they state', () => {
    const key = unprovenKey(PARTS, bytesOf('{}'), 'ab12');
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    expect(unprovenKey({ ...PARTS }, bytesOf('{}'), 'ab12')).toBe(key);
    expect(unprovenKey(PARTS, bytesOf('{} '), 'ab12')).not.toBe(key);
    expect(unprovenKey(PARTS, bytesOf('{}'), 'ab13')).not.toBe(key);
    const changing = Object.keys(PARTS).filter(
      (name) => unprovenKey({ ...PARTS, [name]: 'other' }, bytesOf('{}'), 'ab12') !== key,
    );
    expect(changing).toEqual(['scope', 'id', 'event']);
  });
});

describe('the content of a delivery', () => {
  const state = { id: 'ord_1', status: 100, updated_at: '2026-11-20T10:00:05.000000+00:00' };
  const content = contentOfText(JSON.stringify(state));

  test('is the same in another encoding of the same state', () => {
    expect(contentOfText(JSON.stringify(state, null, 2))).toBe(content);
    expect(contentOfText(JSON.stringify(state).replace('100', '100.0'))).toBe(content);
    expect(contentOfText(JSON.stringify(state).replace('100', '1e2'))).toBe(content);
    expect(contentOfText(JSON.stringify(state).replace('ord', '\\u006frd'))).toBe(content);
    const { id, status, updated_at } = state;
    expect(contentOfText(JSON.stringify({ updated_at, status, id, value: 10.0 }))).toBe(content);
  });

  test.each([
    ['id', { ...state, id: 'ord_2' }],
    ['status', { ...state, status: 56 }],
    ['type of status', { ...state, status: '100' }],
    ['time of the last change', { ...state, updated_at: '2026-11-20T10:00:06.000000+00:00' }],
    ['status, namely none', { id: state.id, updated_at: state.updated_at }],
  ])('changes with the %s', (_, changed) => {
    expect(contentOfText(JSON.stringify(changed))).not.toBe(content);
  });

  test('is the same for two states only if id, status and time are', () => {
    const status = fc.oneof(fc.constantFrom(undefined, 0, 100, '100', ''), fc.integer());
    const anyState = fc.record({ id: part, status, updated_at: part });
    fc.assert(
      fc.property(anyState, anyState, (a, b) => {
        const same = a.id === b.id && a.status === b.status && a.updated_at === b.updated_at;
        expect(contentOf(a, bytesOf('')) === contentOf(b, bytesOf(''))).toBe(same);
      }),
      { numRuns: runs(1000) },
    );
  });

  test('with a status beyond the range of numbers differs from one without a status', () => {
    const contents = ['', '"status":1e999,', '"status":-1e999,'].map((status) =>
      contentOfText(`{"id":"a",${status}"updated_at":"t"}`),
    );
    expect(new Set(contents).size).toBe(3);
  });

  test.each([
    ['no id', '{"updated_at":"t"}'],
    ['an id that is a number', '{"id":1,"updated_at":"t"}'],
    ['no time of the last change', '{"id":"a"}'],
    ['a time that is a number', '{"id":"a","updated_at":1}'],
    ['a state that is only inherited', '{"__proto__":{"id":"a","updated_at":"t"}}'],
    ['an array', '["id","updated_at"]'],
    ['a text', '"id"'],
    ['null', 'null'],
  ])('with %s is the whole payload, in any encoding', (_, text) => {
    expect(contentOfText(` ${text}\n`)).toBe(contentOfText(text));
    expect(contentOf(JSON.parse(text), bytesOf('same'))).not.toBe(
      contentOf('other', bytesOf('same')),
    );
  });

  test('without a state ignores the order of members, and changes with any value', () => {
    const anyJson = fc.jsonValue({ noUnicodeString: false });
    fc.assert(
      fc.property(anyJson, anyJson, (a, b) => {
        fc.pre(canonicalJson([a, b]) !== undefined);
        const same = JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
        const contents = [a, b].map((json) => contentOf([json], bytesOf('')));
        expect(contents[0] === contents[1]).toBe(same);
        expect(contentOf([reversed(a)], bytesOf(''))).toBe(contents[0]);
      }),
    );
  });

  test('with a number that has lost digits is the bytes, because two payloads may parse the same', () => {
    const [a, b] = ['9007199254740993', '9007199254740992'].map((id) => `{"id":${id}}`);
    expect(contentOfText(`${a}`)).not.toBe(contentOfText(`${b}`));
    expect(contentOfText('{"id":[1e400]}')).not.toBe(contentOfText('{"id":[1e401]}'));
  });

  test('replaces a missing id, recognisably', () => {
    expect(contentId(content)).toMatch(/^content:[0-9a-f]{32}$/);
    expect(contentId(content)).not.toBe(contentId(`${content} `));
  });
});

describe('a receiver', () => {
  const first = loadFixture('order:paid');
  const reencoded = { ...first, body: encodeAnew(first.body) };
  const laterState = loadFixture('order:updated/chargeback');

  test.each<[KeyBy | undefined, Record<string, string>]>([
    [undefined, { freshId: 'handled', otherEvent: 'handled', otherState: 'handled' }],
    ['delivery', { freshId: 'handled', otherEvent: 'handled', otherState: 'handled' }],
    ['content', { freshId: 'duplicate', otherEvent: 'handled', otherState: 'handled' }],
    ['id', { freshId: 'handled', otherEvent: 'duplicate', otherState: 'duplicate' }],
  ])('that keys by %s detects the right duplicates', async (keyBy, expected) => {
    const receiver = createReceiver({
      secret: 'a secret for tests',
      store: memoryStore(),
      ...(keyBy && { keyBy }),
    }).on('*', () => {});
    const send = async (fixture: Fixture, id: string, event?: string) =>
      (await replay(receiver, fixture, { id, ...(event && { event }) })).outcome;
    expect(await send(first, 'whl_1')).toBe('handled');
    expect(await send(first, 'whl_1')).toBe('duplicate');
    expect(await send(reencoded, 'whl_1')).toBe('duplicate');
    expect({
      freshId: await send(first, 'whl_2'),
      otherEvent: await send(first, 'whl_1', 'order:updated'),
      otherState: await send(laterState, 'whl_1'),
    }).toEqual(expected);
  });

  test('creates the id of a delivery without one from its content', async () => {
    const seen: string[] = [];
    const receiver = createReceiver({ secret: 'a secret for tests', store: memoryStore() }).on(
      '*',
      ({ id }) => void seen.push(id),
    );
    const headers = first.headers.filter(([name]) => name !== 'X-Service-Webhook');
    expect((await replay(receiver, { ...first, headers })).outcome).toBe('handled');
    expect((await replay(receiver, { ...reencoded, headers })).outcome).toBe('duplicate');
    expect(seen).toEqual([expect.stringMatching(/^content:[0-9a-f]{32}$/)]);
  });
});

/** Encodes the same JSON differently. */
function reversed(json: unknown): unknown {
  return reordered(json, (entries) => entries.reverse());
}

function sorted(json: unknown): unknown {
  return reordered(json, (entries) => entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

type Entries = [string, unknown][];

function reordered(json: unknown, order: (entries: Entries) => Entries): unknown {
  if (Array.isArray(json)) return json.map((member) => reordered(member, order));
  if (typeof json !== 'object' || json === null) return json;
  const entries = order(Object.entries(json));
  return Object.fromEntries(entries.map(([name, member]) => [name, reordered(member, order)]));
}

function encodeAnew(body: Uint8Array): Uint8Array {
  return bytesOf(JSON.stringify(JSON.parse(new TextDecoder().decode(body)), null, 2));
}
