import { createGoods, type GoodsOptions } from 'storefront-webhooks/goods';
import { describe, expect, test } from 'vitest';
import { SECRET } from '../support/deliver.js';

const make = () => 'KEY';

/** As plain JavaScript may call it. */
const create = (options: unknown, made: unknown = make) =>
  createGoods(options as GoodsOptions, made as typeof make);

describe('createGoods refuses', () => {
  test.each<[string, unknown, RegExp]>([
    ['no options', undefined, /secret has to be given: createGoods\(/],
    ['a queue', { secret: SECRET, queue: {} }, /no option queue\. The goods are the answer/],
    ['a misspelled option', { secret: SECRET, stor: 1 }, /no option stor\. Did you mean "store"/],
    [
      'an option cut short',
      { secret: SECRET, header: 'X-' },
      /no option header\. Did you mean "headerPrefix"/,
    ],
    ['a hook as an option', { secret: SECRET, onError() {} }, /hooks: \{ onError \}/],
    [
      'a misspelled part of verify',
      { secret: SECRET, verify: { sign: true } },
      /verify\.sign\. Did/,
    ],
    ['verify that is none', { secret: SECRET, verify: true }, /verify has to be an object/],
    ['signed that is none', { secret: SECRET, verify: { signed: 0 } }, /verify\.signed/],
    ['an event that is none', { secret: SECRET, verify: { event: '' } }, /verify\.event/],
    ['an order that is none', { secret: SECRET, verify: { order: 'data' } }, /verify\.order/],
    ['allow that is none', { secret: SECRET, verify: { allow: true } }, /verify\.allow/],
    ['unsigned calls that nobody looks at', { verify: { signed: false } }, /anyone could get/],
    [
      'a secret that verifies nothing',
      { secret: SECRET, verify: { signed: false, allow: () => true } },
      /secret has to be left out/,
    ],
    ['oncePer that is none', { secret: SECRET, oncePer: 'id' }, /oncePer has to be a function/],
    ['no status that means paid', { secret: SECRET, paidStatuses: [] }, /paidStatuses/],
    ['a store that is none', { secret: SECRET, store: new Map() }, /store has to be/],
    ['a scope that is none', { secret: SECRET, scope: 7 }, /scope/],
    ['a limit that is none', { secret: SECRET, limit: 0 }, /limit/],
    ['a time that is none', { secret: SECRET, timeout: -1 }, /timeout/],
  ])('%s', (_, options, message) => {
    expect(() => create(options)).toThrow(
      expect.objectContaining({
        code: 'option_invalid',
        message: expect.stringMatching(new RegExp(`^createGoods: .*${message.source}`)),
      }),
    );
  });

  test.each([{}, { secret: undefined }, { secret: 'undefined' }, { secret: [] }])(
    'no secret: %o',
    (options) => {
      expect(() => create(options)).toThrow(expect.objectContaining({ code: 'secret_invalid' }));
    },
  );

  test('what makes no goods', () => {
    expect(() => create({ secret: SECRET }, 'KEY')).toThrow(
      expect.objectContaining({
        code: 'handler_invalid',
        message: expect.stringMatching(/string/),
      }),
    );
  });
});
