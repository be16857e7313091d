import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause, setImmediate } from 'node:timers/promises';
import Database from 'libsql';
import {
  createReceiver,
  type IdempotencyStore,
  type Receiver,
  type ReceiverOptions,
} from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import { sign } from 'storefront-webhooks/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { redrive } from '../../../src/cli/dead/redrive.js';
import { processHost } from '../../../src/cli/host.js';
import { createPrinter } from '../../../src/cli/printer.js';
import { forward } from '../../../src/stores/contract.js';
import { paidOrder } from '../../support/deliver.js';
import { begin, run, SECRET, serve } from '../command.js';

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'redrive-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'shop.db');
}

/** Leaves deliveries whose handlers have failed in a new store, and returns its file. */
async function leaveDead(count: number, event = 'order:paid'): Promise<string> {
  const file = newFile();
  const database = new Database(file);
  const store = sqliteStore(database);
  const about = { scope: '', id: 'whl_1', event, receivedAt: Date.now() };
  const terms = { owner: 'a', leaseMs: 60_000, keepMs: 60_000, maxCrashes: 5 };
  for (let at = 0; at < count; at++) {
    const key = `${at}`.padStart(64, '0');
    const claim = await store.claim({ ...about, key, body: new Uint8Array([123, 125]) }, terms);
    if (claim.state !== 'acquired') throw new Error('It was not claimed.');
    await store.fail(key, claim.fence, { permanent: true, error: 'no stock' });
  }
  database.close();
  return file;
}

test.each([
  [200, 'handled'],
  [500, 'failed'],
])('goes on if the shop answers %i %s between bad answers', async (status, outcome) => {
  const bad = { status: 503, outcome: 'unavailable' };
  const answers = [bad, bad, { status, outcome }, bad, bad, { status, outcome }];
  const file = await leaveDead(answers.length);
  let sent = 0;
  const { url } = await serve(
    createServer((request, response) => {
      const answer = answers[sent++] ?? bad;
      request
        .resume()
        .on('end', () => response.writeHead(answer.status).end(JSON.stringify(answer)));
    }),
  );
  const args = ['dead', 'redrive', file, '--apply', '--to', url];
  const done = await run(args, { env: { WEBHOOK_SECRET: SECRET } });
  expect([done.status, sent]).toEqual([1, answers.length]);
});

test('puts back no other delivery if an option is wrong', async () => {
  const file = await leaveDead(3);
  const database = new Database(file);
  onTestFinished(() => void database.close());
  const store = sqliteStore(database);
  const { url } = await serve(createServer((_, response) => void response.end()));
  const written: string[] = [];
  const output = { write: (text: string) => void written.push(text) };
  const host = { ...processHost, env: { WEBHOOK_SECRET: SECRET }, stdout: output, stderr: output };
  const session = { host, printer: createPrinter(host, () => true), end() {} };
  const flags = {
    ...{ apply: true, to: url, where: [], plainHttp: false },
    ...{ max: 1_000, timeout: 0 },
  };
  await expect(redrive(store, flags, session)).rejects.toMatchObject({ code: 'option_invalid' });
  expect(await store.count({ state: 'dead' })).toBe(2);
  expect(written.join('')).toContain(`"key":"${'0'.padStart(64, '0')}"`);
});

describe('if it is interrupted,', () => {
  const keyOf = (at: number) => `${at}`.padStart(64, '0');

  test('awaits the answer for the delivery that is put back, which it names, and leaves the others', async () => {
    const file = await leaveDead(3);
    const answers: (() => void)[] = [];
    const { url } = await serve(
      createServer((request, response) => {
        request.resume();
        answers.push(() => response.end('{"outcome":"ignored"}'));
      }),
    );
    const args = ['dead', 'redrive', file, '--apply', '--to', url];
    const running = begin(args, { env: { WEBHOOK_SECRET: SECRET } });
    await vi.waitFor(() => expect(answers).toHaveLength(1));
    running.interrupt();
    await running.says(new RegExp(`Stopping after the answer for ${keyOf(0)}\\. Interrupt again`));
    answers[0]?.();
    const { status, stderr, records } = await running.ended;
    expect([status, records()]).toMatchObject([1, [{ key: keyOf(0), outcome: 'ignored' }]]);
    expect(stderr).toMatch(/1 sent, 1 accepted[\s\S]*Stopped\. The others are unchanged/);
    expect((await run(['dead', 'list', file])).records()).toMatchObject(
      [1, 2].map((at) => ({ key: keyOf(at), state: 'dead', error: 'no stock' })),
    );
  });

  test('ends at once without --apply, because it changes nothing', async () => {
    const running = begin(['dead', 'redrive', await leaveDead(5)]);
    while (running.stdout === '') await setImmediate();
    running.interrupt();
    expect((await running.ended).stderr).not.toContain('Stopp');
  });

  test('stops between two deliveries that it puts back without sending them', async () => {
    const file = await leaveDead(5);
    const running = begin(['dead', 'redrive', file, '--apply']);
    while (running.stdout === '') await setImmediate();
    running.interrupt();
    const { status, stderr, records } = await running.ended;
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^Stopping\. [\s\S]*Stopped\. /)]);
    expect(records().length).toBeLessThan(5);
    const { records: left } = await run(['dead', 'list', file]);
    expect(left()).toHaveLength(5 - records().length);
  });
});

test.each(['订单:支付', 'order:a-long-event-that-was-cu…'])(
  'leaves a delivery whose event no header can hold: %s',
  async (event) => {
    const file = await leaveDead(1, event);
    const { url } = await serve(createServer((_, response) => void response.end()));
    const args = ['dead', 'redrive', file, '--apply', '--to', url];
    const done = await run(args, { env: { WEBHOOK_SECRET: SECRET } });
    expect(done).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/cannot hold the id or the event.*receiver\.redrive/),
    });
    expect(done.records()).toMatchObject([{ action: 'left: cannot be sent' }]);
    expect((await run(['dead', 'list', file])).records()).toMatchObject([
      { state: 'dead', event, attempts: 1, error: 'no stock' },
    ]);
  },
);

test('stops after the first delivery if the receiver has another header prefix', async () => {
  const file = await leaveDead(3);
  const receiver = createReceiver({
    secret: SECRET,
    headerPrefix: 'X-Brand-',
    hooks: { onRejected() {} },
  });
  const { url } = await serve(createServer(toNodeHandler(receiver)));
  const redrive = (...args: string[]) =>
    run(['dead', 'redrive', file, '--apply', '--to', url, ...args], {
      env: { WEBHOOK_SECRET: SECRET },
    });
  const stopped = await redrive();
  expect([stopped.status, stopped.records()]).toMatchObject([1, [{ status: 401 }]]);
  expect(stopped.stderr).toContain('The others were not sent');
  const others = await redrive('--header-prefix', 'X-Brand-');
  expect(others.records().map(({ status }) => status)).not.toContain(401);
  expect(others.records()).toHaveLength(2);
});

describe('checks that this shop has run the delivery,', () => {
  type Options = Partial<ReceiverOptions>;
  const env = { WEBHOOK_SECRET: SECRET };

  /** Without advice to run the command again: the other shop would deliver one more order each time. */
  const STOPPED =
    '1 sent, 0 accepted by the shop.\n' +
    'The others were not sent, and are unchanged.\n' +
    '1 not accepted, and stalled within a minute: then send it to the shop of this store.\n';

  const receiverWith = (store: IdempotencyStore, options: Options) =>
    createReceiver({ secret: SECRET, store, hooks: { onError() {}, onRejected() {} }, ...options });

  /** Leaves each payload as a dead delivery in a store, and returns the store and its file. */
  async function leave(payloads: readonly object[], options: Options, headers: object = {}) {
    const file = newFile();
    const database = new Database(file);
    onTestFinished(() => void database.close());
    const store = sqliteStore(database);
    const receiver = receiverWith(store, options).on('order:paid', () => {
      throw new Error('no stock');
    });
    for (const [at, payload] of payloads.entries()) {
      const body = new TextEncoder().encode(JSON.stringify(payload));
      const sent = {
        'x-service-event': 'order:paid',
        'x-service-webhook': `whl_${at}`,
        'x-service-signature': sign(body, SECRET),
        ...headers,
      };
      const request = { method: 'POST', headers: sent, body };
      const verified = await receiver.verify(request, { keepInvalid: true });
      if (verified.outcome === 'rejected') throw new Error(verified.message);
      await receiver.dispatch(verified, { lastAttempt: true });
    }
    expect(await store.count({ state: 'dead' })).toBe(payloads.length);
    return { store, file };
  }

  /** Redrives all deliveries to a shop. */
  async function redriveTo(receiver: Receiver, file: string, ...args: string[]) {
    const { url, server } = await serve(createServer(toNodeHandler(receiver)));
    onTestFinished(() => receiver.close({ server }));
    return run(['dead', 'redrive', file, '--apply', '--to', url, ...args], { env });
  }

  test.each<[string, number, Options, (id: string) => void]>([
    ['that has run it', 200, {}, () => {}],
    [
      'whose handler has failed',
      500,
      {},
      () => {
        throw new Error('no stock');
      },
    ],
    [
      'that has put it into its queue',
      200,
      { queue: { durable: true, enqueue: async () => ({ id: '1' }) } },
      () => {},
    ],
    ['that identifies deliveries otherwise', 200, { scope: 'games', keyBy: 'content' }, () => {}],
  ])('and stops at another shop %s', async (_, status, others, handle) => {
    const { store, file } = await leave([paidOrder(), paidOrder({ id: 'ord_2' })], {
      scope: 'games',
    });
    const ran: string[] = [];
    const other = receiverWith(sqliteStore(new Database(':memory:')), others);
    other.on('order:paid', ({ key, payload }) => {
      ran.push(key);
      handle(payload.id);
    });
    const done = await redriveTo(other, file, '--scope', 'games');
    const records = done.records();
    expect([done.status, records]).toMatchObject([
      1,
      [
        {
          status,
          good: false,
          otherKey: expect.stringMatching(/^[0-9a-f]{64}$/),
          cause: expect.stringContaining('under another key'),
          fix: expect.stringContaining('shop of this store'),
        },
      ],
    ]);
    if (!others.queue) expect(ran).toEqual([records[0].otherKey]);
    expect(done.stderr).not.toContain('run this command again');
    expect(done.stderr).toBe(STOPPED);
    expect(await store.list({ state: 'dead', limit: 9 })).toMatchObject([
      { error: expect.stringContaining('no stock') },
    ]);
  });

  test.each<[string, readonly string[], object, Options?]>([
    ['also if that has it as done', ['handled', 'duplicate'], paidOrder()],
    [
      'also if it did not fit its event here',
      ['handled'],
      paidOrder({ status: 7 }),
      { paidStatuses: [100, 7] },
    ],
  ])(
    'and stops at another store with the same scope, %s',
    async (_, outcomes, payload, others = {}) => {
      const database = new Database(':memory:');
      onTestFinished(() => void database.close());
      const other = receiverWith(sqliteStore(database), others);
      let ran = 0;
      other.on('order:paid', () => {
        ran += 1;
      });
      for (const outcome of outcomes) {
        const { store, file } = await leave([payload, { ...payload, id: 'ord_2' }], {});
        const done = await redriveTo(other, file);
        expect([done.status, done.records()]).toMatchObject([
          1,
          [
            {
              ...{ status: 200, outcome, good: false, otherStore: true },
              cause: expect.stringContaining('uses another store'),
              fix: expect.stringContaining('shop of this store'),
            },
          ],
        ]);
        expect(done.stderr).toBe(STOPPED);
        expect(await store.count({ state: 'dead' })).toBe(1);
      }
      expect(ran).toBe(1);
    },
  );

  test('and names each delivery to send to the shop of this store', async () => {
    const { file } = await leave([paidOrder(), paidOrder({ id: 'ord_2' })], {});
    let ran = 0;
    const other = receiverWith(sqliteStore(new Database(':memory:')), {});
    other.on('order:paid', () => {
      if (ran++ === 0) throw new Error('no stock');
    });
    const done = await redriveTo(other, file, '--state', 'dead');
    const keys = done.records().map(({ key }) => key);
    expect([ran, done.stderr]).toEqual([
      2,
      '2 sent, 0 accepted by the shop.\n' +
        '2 not accepted, and stalled within a minute: then send each to the shop of this store, ' +
        `with --where key=… in place of --state dead: ${keys.join(', ')}.\n`,
    ]);
  });

  test('and waits for a store that records the delivery after the answer', async () => {
    const { store, file } = await leave([paidOrder()], {});
    let failed = 0;
    const receiver = receiverWith(
      forward(store, {
        async complete(...args) {
          // The receiver answers after its third attempt.
          if (failed++ < 3) throw new Error('the store restarts');
          return store.complete(...args);
        },
      }),
      {},
    );
    receiver.on('order:paid', () => {});
    const done = await redriveTo(receiver, file);
    expect([failed, done.status, done.records()]).toMatchObject([4, 0, [{ good: true }]]);
  });

  test('and takes a delivery for its own whose order differs, also as a copy', async () => {
    const { store, file } = await leave([paidOrder()], {});
    const issues = [{ path: 'value', message: 'differs' }];
    const receiver = receiverWith(store, { confirm: async () => ({ state: 'disagreed', issues }) });
    receiver.on('order:paid', () => {}).onInvalid(() => {});
    for (let copy = 0; copy < 2; copy++) {
      const done = await redriveTo(receiver, file);
      expect([done.status, done.records()]).toMatchObject([0, [{ outcome: 'parked', good: true }]]);
      const overdue = new Database(file);
      overdue.exec('UPDATE webhook_delivery SET not_before = not_before - 120000');
      overdue.close();
    }
  });

  test.each([
    ['alone', 0],
    ['while a copy waits', 1],
  ])('and reports a delivery that the shop parks %s', async (_, copies) => {
    const { store, file } = await leave([paidOrder()], {});
    const [dead] = await store.list({ state: 'dead' });
    if (!dead) throw new Error('It was not parked.');
    await store.redrive(dead.key);
    const terms = { owner: 'a', leaseMs: 0, keepMs: 60_000, maxCrashes: 5 };
    await store.claim({ ...dead, receivedAt: Number(dead.receivedAt) }, terms);
    // Its process has died in each attempt.
    const database = new Database(file);
    database.exec('UPDATE webhook_delivery SET attempts = 5, renewed = 1');
    database.close();
    const slow = forward(store, {
      async claim(...args) {
        await pause(300);
        return store.claim(...args);
      },
    });
    const receiver = receiverWith(slow, {}).on('order:paid', () => {});
    const handle = toNodeHandler(receiver);
    const body = new TextEncoder().encode(JSON.stringify(paidOrder()));
    const headers = {
      'x-service-event': 'order:paid',
      'x-service-webhook': 'whl_0',
      'x-service-signature': sign(body, SECRET),
    };
    const { url } = await serve(
      createServer((request, response) => {
        // The provider's own retry comes just before.
        for (let copy = 0; copy < copies; copy++)
          void receiver.receive({ method: 'POST', headers, body });
        handle(request, response);
      }),
    );
    const redrive = ['dead', 'redrive', file, '--state', 'failing', '--apply', '--to', url];
    const done = await run(redrive, { env });
    expect([done.status, done.records()]).toMatchObject([
      1,
      [{ outcome: 'parked', good: false, cause: expect.stringContaining('parked') }],
    ]);
    expect(done.records()[0]).not.toHaveProperty('otherStore');
    expect(await store.count({ state: 'dead' })).toBe(1);
  });

  test('and stops at another store that has run it, also if this store parks it meanwhile', async () => {
    const { file } = await leave([paidOrder(), paidOrder({ id: 'ord_2' })], {});
    const other = receiverWith(sqliteStore(new Database(':memory:')), {});
    other.on('order:paid', () => {
      const database = new Database(file);
      database.exec("UPDATE webhook_delivery SET state = 'dead'");
      database.close();
    });
    const done = await redriveTo(other, file);
    expect([done.status, done.records()]).toMatchObject([
      1,
      [{ outcome: 'handled', good: false, otherStore: true }],
    ]);
    expect(done.stderr).toBe(STOPPED);
  });

  test('and reports a store that it cannot read', async () => {
    const { file } = await leave([paidOrder()], {});
    const other = receiverWith(sqliteStore(new Database(':memory:')), {});
    other.on('order:paid', () => {
      const database = new Database(file);
      database.exec('ALTER TABLE webhook_delivery RENAME COLUMN state TO status');
      database.close();
    });
    const done = await redriveTo(other, file);
    const [record] = done.records();
    expect([done.status, record]).toMatchObject([
      1,
      {
        ...{ status: 200, outcome: 'handled', good: false },
        cause: expect.stringMatching(/could not be read.*no such column/),
        fix: expect.stringContaining('store'),
      },
    ]);
    expect(record).not.toHaveProperty('otherStore');
    expect(done.stderr).toContain('run this command again');
  });

  const wrapped = { id: 'whl_in_body', event: 'order:paid', data: paidOrder() };

  test.each<[string, Options, object?, object?, Options?]>([
    ['by content', { keyBy: 'content' }],
    ['by the id', { keyBy: 'id' }],
    ['by a function', { keyBy: ({ id }) => `order ${id}` }],
    ['without an id', {}, paidOrder(), { 'x-service-webhook': undefined }],
    [
      'whose body has the id',
      { unwrap: ({ id, event, data }) => ({ id, event, payload: data }) },
      wrapped,
    ],
    ['whose body has the event', { unwrap: true }, wrapped],
    ['that a secret function finds', { secret: () => ({ secret: SECRET, scope: '' }) }],
    ['that fits its event now', {}, paidOrder({ status: 7 }), {}, { paidStatuses: [100, 7] }],
    ['that does not fit its event any more', {}, paidOrder(), {}, { maxAge: 60 }],
  ])('and takes a delivery %s for its own', async (_, options, payload, headers, since) => {
    const { store, file } = await leave([payload ?? paidOrder()], options, headers);
    const receiver = receiverWith(store, { ...options, ...since });
    receiver.on('order:paid', () => {}).onInvalid(() => {});
    const done = await redriveTo(receiver, file);
    expect([done.status, done.records()]).toMatchObject([0, [{ status: 200, good: true }]]);
  });
});
