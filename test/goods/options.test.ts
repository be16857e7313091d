import { memoryStore } from 'storefront-webhooks';
import { createGoods, type GoodsOptions } from 'storefront-webhooks/goods';
import { describe, expect, test } from 'vitest';
import { SECRET } from '../support/deliver.js';

const make = () => 'KEY';

/** Calls the function as plain JavaScript could. */
const create = (options: unknown, made: unknown = make) =>
  createGoods(options as GoodsOptions, made as typeof make);

describe('createGoods rejects', () => {
  test.each<[string, unknown, RegExp]>([
    ['no options', undefined, /secret has to be given: createGoods\(/],
    ['a queue', { secret: SECRET, queue: {} }, /no option queue\. The goods are the answer/],
    ['a misspelled option', { secret: SECRET, stor: 1 }, /no option stor\. Did you mean "store"/],
    [
      'a truncated option',
      { secret: SECRET, header: 'X-' },
      /no option header\. Did you mean "headerPrefix"/,
    ],
    ['a hook as an option', { secret: SECRET, onError() {} }, /hooks: \{ onError \}/],
    [
      'a misspelled part of verify',
      { secret: SECRET, verify: { sign: true } },
      /verify\.sign\. Did/,
    ],
    ['an invalid verify', { secret: SECRET, verify: true }, /verify has to be an object/],
    ['an invalid signed', { secret: SECRET, verify: { signed: 0 } }, /verify\.signed/],
    ['an invalid event', { secret: SECRET, verify: { event: '' } }, /verify\.event/],
    ['an invalid order', { secret: SECRET, verify: { order: 'data' } }, /verify\.order/],
    ['an invalid allow', { secret: SECRET, verify: { allow: true } }, /verify\.allow/],
    ['unsigned calls without allow', { verify: { signed: false } }, /anyone could get/],
    [
      'a secret that verifies nothing',
      { secret: SECRET, verify: { signed: false, allow: () => true } },
      /secret has to be left out/,
    ],
    ['an invalid oncePer', { secret: SECRET, oncePer: 'id' }, /oncePer has to be a function/],
    ['an empty list of paid statuses', { secret: SECRET, paidStatuses: [] }, /paidStatuses/],
    ['an invalid store', { secret: SECRET, store: new Map() }, /store has to be/],
    ['an invalid scope', { secret: SECRET, scope: 7 }, /scope/],
    ['an invalid limit', { secret: SECRET, limit: 0 }, /limit/],
    ['an invalid time', { secret: SECRET, timeout: -1 }, /timeout/],
  ])('%s', (_, options, message) => {
    expect(() => create(options)).toThrow(
      expect.objectContaining({
        code: 'option_invalid',
        message: expect.stringMatching(new RegExp(`^createGoods: .*${message.source}`)),
      }),
    );
  });

  test.each([{}, { secret: undefined }, { secret: 'undefined' }, { secret: [] }])(
    'a missing secret: %o',
    (options) => {
      expect(() => create(options)).toThrow(expect.objectContaining({ code: 'secret_invalid' }));
    },
  );

  test('a missing function', () => {
    expect(() => create({ secret: SECRET }, 'KEY')).toThrow(
      expect.objectContaining({
        code: 'handler_invalid',
        message: expect.stringMatching(/string/),
      }),
    );
  });
});

test('a call may be larger than a body that the store holds: the store holds no calls', () => {
  const store = { ...memoryStore(), maxBodyBytes: 1_400_000 };
  expect(() => create({ secret: SECRET, store, limit: 2_000_000 })).not.toThrow();
});
