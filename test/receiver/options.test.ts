import { createReceiver, memoryStore, type ReceiverOptions } from 'storefront-webhooks';
import { expect, test } from 'vitest';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';

/** Calls the function as a program without types would. */
function create(options: unknown) {
  return () => createReceiver(options as ReceiverOptions);
}

const anything = { '~standard': { version: 1, vendor: 'x', validate: () => ({ value: 1 }) } };

test.each([
  [{ limit: 0 }, 'limit'],
  [{ limit: 0.5 }, 'limit'],
  [{ limit: Infinity }, 'limit'],
  [{ limit: '1mb' }, 'limit'],
  [{ timeout: -1 }, 'timeout'],
  [{ timeout: 2 ** 31 }, 'timeout'],
  [{ bodyTimeout: Number.NaN }, 'bodyTimeout'],
  [{ keepDays: 6 }, 'keepDays'],
  [{ keepDays: '30' }, 'keepDays'],
  [{ maxAge: 0 }, 'maxAge'],
  [{ headerPrefix: 'X Service-' }, 'headerPrefix'],
  [{ headerPrefix: null }, 'headerPrefix'],
  [{ paidStatuses: [] }, 'paidStatuses'],
  [{ paidStatuses: [undefined] }, 'paidStatuses'],
  [{ paidStatuses: [''] }, 'paidStatuses'],
  [{ paidStatuses: [100.5] }, 'paidStatuses'],
  [{ keyBy: 'order' }, 'keyBy'],
  [{ unwrap: 'data' }, 'unwrap'],
  [{ paidStatuses: 100 }, 'paidStatuses'],
  [{ scope: null }, 'scope'],
  [{ scope: 5 }, 'scope'],
  [{ unwrap: 'no' }, 'unwrap'],
  [{ debug: 'yes' }, 'debug'],
  [{ hooks: 'x' }, 'hooks'],
  [{ hooks: null }, 'hooks'],
  [{ hooks: { onError: 'log' } }, 'hooks.onError'],
  [{ events: null }, 'events'],
  [{ events: [] }, 'events'],
  [{ store: { claim() {} } }, 'store'],
  [{ queue: { durable: true, enqueue() {}, redrive: 5 } }, 'queue'],
  [{ retiredSecrets: 'old' }, 'retiredSecrets'],
  [{ retiredSecrets: [{ secret: 'old', until: null }] }, 'retiredSecrets'],
  [{ retiredSecrets: [{ secret: 'old', until: 1798675200 }] }, 'retiredSecrets'],
  [{ retiredSecrets: [{ secret: 'old', until: '12' }] }, 'retiredSecrets'],
  [{ retiredSecrets: [{ secret: 'old', until: new Date('?') }] }, 'retiredSecrets'],
  [{ retiredSecrets: [{ secret: 'old', until: '2030-13-45' }] }, 'retiredSecrets'],
  [{ retiredSecrets: [{ secret: 'old', untill: '2030-01-01' }] }, 'retiredSecrets'],
  [
    { secret: () => null, retiredSecrets: [{ secret: 'old', until: '2030-01-01' }] },
    'retiredSecrets',
  ],
  [{ events: { 'order:paid': {} } }, 'events'],
  [{ events: { '*': anything } }, 'events'],
])('the option %o is rejected when the receiver is created', (options, name) => {
  expect(create({ secret: SECRET, ...options })).toThrow(
    expect.objectContaining({
      code: 'option_invalid',
      message: expect.stringContaining(`the option ${name}`),
    }),
  );
});

test.each([
  [
    { headerprefix: 'X-Brand-' },
    'no option headerprefix. Did you mean "headerPrefix"? The options are',
  ],
  [
    { hooks: { onEror: () => {} } },
    'no option hooks.onEror. Did you mean "onError"? The options are',
  ],
  [{ onError: () => {} }, 'no option onError. Pass it as hooks: { onError }. The options are'],
  [{ somethingElse: 1 }, 'no option somethingElse. The options are secret, '],
  [{ store: new Map() }, 'a store such as memoryStore(), and not a Map.'],
  [{ store: () => {} }, 'a store such as memoryStore(), and not a function: call it.'],
])('the wrong option %o is rejected with the right one', (options, said) => {
  expect(create({ secret: SECRET, ...options })).toThrow(
    expect.objectContaining({ code: 'option_invalid', message: expect.stringContaining(said) }),
  );
});

test('a limit above what the store holds is rejected: a queue would accept what no attempt can claim', () => {
  const store = { ...memoryStore(), maxBodyBytes: 1_400_000 };
  expect(create({ secret: SECRET, store, limit: 2_000_000 })).toThrow(
    'the option limit has to be at most 1400000, all that the store holds.',
  );
  expect(create({ secret: SECRET, store, limit: 1_400_000 })).not.toThrow();
});

test.each([
  ['X-Brand', "'X-Brand-'"],
  ['X-Brand-Signature', "'X-Brand-'"],
  ['x-brand-event', "'x-brand-'"],
  ['', "'X-Service-'"],
  [null, "'X-Service-'"],
])('the headerPrefix %j is rejected with the right one', (headerPrefix, meant) => {
  expect(create({ secret: SECRET, headerPrefix })).toThrow(`such as ${meant}.`);
});

test.each([[undefined], [null], ['a secret']])(
  'options of %j are rejected with a message',
  (options) => {
    expect(create(options)).toThrow('createReceiver({ secret: process.env.WEBHOOK_SECRET })');
  },
);

test('several statuses may mean paid', async () => {
  const receiver = createReceiver({ secret: SECRET, paidStatuses: [54, 100] }).on('*', () => {});
  for (const status of [54, 100]) {
    const reply = await deliver(receiver, paidOrder({ status }), { id: `${status}` });
    expect(reply).toMatchObject({ status: 200 });
  }
});

test.each([new Date(0), new Date(-1), '1969-12-31'])(
  'a secret may be retired since long ago, such as %s',
  (until) => {
    const retiredSecrets = [{ secret: 'old', until }];
    expect(create({ secret: SECRET, retiredSecrets })).not.toThrow();
  },
);
