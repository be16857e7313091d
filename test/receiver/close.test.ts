import { createReceiver } from 'storefront-webhooks';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';

const hooks = { onError() {} };

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

describe('close', () => {
  test('waits for running handlers', async () => {
    const { open, opened } = gate();
    const receiver = createReceiver({ secret: SECRET }).on('order:paid', () => opened);
    const delivered = deliver(receiver, paidOrder());
    await new Promise((resolve) => setImmediate(resolve));
    const closed = vi.fn();
    const closing = receiver.close().then(closed);
    await new Promise((resolve) => setImmediate(resolve));
    expect(closed).not.toHaveBeenCalled();
    open();
    expect(await delivered).toMatchObject({ outcome: 'handled' });
    await closing;
  });

  test.each([[{}], [{ name: 'order:paid', oncePer: () => 'key' }]])(
    'waits for a handler that continues after its timeout (%o)',
    async (options) => {
      const { open, opened } = gate();
      const receiver = createReceiver({ secret: SECRET, timeout: 5, hooks });
      receiver.on('order:paid', () => opened, options);
      expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'failed' });
      const closed = vi.fn();
      const closing = receiver.close().then(closed);
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(closed).not.toHaveBeenCalled();
      open();
      await closing;
    },
  );

  test.each([0, 5, Number.NaN])('waits at most %s ms', async (timeoutMs) => {
    const receiver = createReceiver({ secret: SECRET }).on(
      'order:paid',
      () => new Promise(() => {}),
    );
    void deliver(receiver, paidOrder());
    await new Promise((resolve) => setImmediate(resolve));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const closed = vi.fn();
    void receiver.close({ timeoutMs }).then(closed);
    // The default is 10 s.
    await vi.advanceTimersByTimeAsync(5);
    expect(closed).toHaveBeenCalledOnce();
  });

  test('reports that it ended before all handlers had finished', async () => {
    const onError = vi.fn();
    const receiver = createReceiver({ secret: SECRET, hooks: { onError } }).on(
      'order:paid',
      () => new Promise(() => {}),
    );
    void deliver(receiver, paidOrder());
    await new Promise((resolve) => setImmediate(resolve));
    await receiver.close({ timeoutMs: 5 });
    const told = { code: 'closed_early', message: expect.stringMatching(/5 ms.*timeoutMs/) };
    expect(onError.mock.calls).toEqual([[expect.objectContaining(told), expect.anything()]]);
  });

  test('reports an unknown option', async () => {
    const onError = vi.fn();
    const receiver = createReceiver({ secret: SECRET, hooks: { onError } });
    const misspelled = JSON.parse('{ "sever": {} }');
    await receiver.close(misspelled);
    const told = { code: 'option_invalid', message: expect.stringMatching(/sever.*"server"/) };
    expect(onError).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining(told),
      expect.anything(),
    );
  });

  test('reports a server that it could not stop', async () => {
    const onError = vi.fn();
    const receiver = createReceiver({ secret: SECRET, hooks: { onError } });
    const error = new Error('it is not running');
    await receiver.close({ server: { stop: async () => Promise.reject(error) } });
    expect(onError).toHaveBeenCalledExactlyOnceWith(error, expect.anything());
  });

  test('survives an adapter that could not send its response', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    onTestFinished(() => void process.off('unhandledRejection', unhandled));
    const receiver = createReceiver({ secret: SECRET, hooks: { onRejected() {} } });
    const responseSent = Promise.reject(new Error('The sender has disconnected.'));
    await receiver.receive({ method: 'GET', headers: {}, body: new Uint8Array(), responseSent });
    await receiver.close();
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(unhandled).not.toHaveBeenCalled();
  });

  test('waits without a limit if timeoutMs is Infinity', async () => {
    const { open, opened } = gate();
    const receiver = createReceiver({ secret: SECRET }).on('order:paid', () => opened);
    const delivered = deliver(receiver, paidOrder());
    await new Promise((resolve) => setImmediate(resolve));
    const closed = vi.fn();
    const closing = receiver.close({ timeoutMs: Infinity }).then(closed);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(closed).not.toHaveBeenCalled();
    open();
    await closing;
    expect(await delivered).toMatchObject({ outcome: 'handled' });
  });

  test('hands no more deliveries to a queue', async () => {
    const enqueue = vi.fn(async () => ({ id: 'job_1' }));
    const receiver = createReceiver({ secret: SECRET, queue: { durable: true, enqueue } });
    await receiver.close();
    expect(await deliver(receiver, paidOrder())).toMatchObject({
      status: 503,
      outcome: 'unavailable',
    });
    expect(enqueue).not.toHaveBeenCalled();
  });
});
