import { createReceiver } from 'storefront-webhooks';
import { describe, expect, test, vi } from 'vitest';
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
  test('waits for what is running', async () => {
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
    'waits for a handler that goes on after its time limit (%o)',
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

  test.each([0, 5, Number.NaN])('waits no longer than %s ms', async (timeoutMs) => {
    const receiver = createReceiver({ secret: SECRET }).on(
      'order:paid',
      () => new Promise(() => {}),
    );
    void deliver(receiver, paidOrder());
    await new Promise((resolve) => setImmediate(resolve));
    const startedAt = performance.now();
    await receiver.close({ timeoutMs });
    // The default is 10 s.
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  test('waits as long as it takes, for Infinity', async () => {
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

  test('hands nothing to a queue any more', async () => {
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
