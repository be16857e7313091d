import { once } from 'node:events';
import { request } from 'node:http';
import { loadFixture, sign } from 'storefront-webhooks/testing';
import { expect, test, vi } from 'vitest';
import { SECRET } from '../../adapters/apps/inside/contract.js';
import { withRuntimes } from '../../runtimes/installed.js';
import { useWorkerProject } from '../../runtimes/worker-project.js';

withRuntimes('the adapter in workerd', () => {
  const start = useWorkerProject();

  test('handles a delivery whose invocation the platform has ended, when its lease has expired', async () => {
    const worker = await start('cancelled.ts', '2026-10-23');
    try {
      const { body } = loadFixture('order:paid');
      const headers = {
        'x-service-event': 'order:paid',
        'x-service-webhook': 'whl_1',
        'x-service-signature': sign(body, SECRET),
      };
      const sender = request(worker.origin, { method: 'POST', headers });
      const hungUp = once(sender, 'error');
      sender.end(body);
      await vi.waitFor(() => expect(worker.output()).toContain('run 1'), { timeout: 10_000 });
      // A reset, because workerd goes on for a sender that has only closed its side.
      sender.socket?.resetAndDestroy();
      await hungUp;
      const deliver = async () => {
        const signal = AbortSignal.timeout(9_000);
        const sent = { method: 'POST', headers, body: Uint8Array.from(body), signal };
        const response = await fetch(worker.origin, sent);
        const { outcome } = (await response.json()) as { outcome: string };
        return `${response.status} ${outcome}`;
      };
      await vi.waitFor(async () => expect(await deliver()).toBe('200 handled'), {
        timeout: 20_000,
        interval: 2_000,
      });
      expect(worker.output()).toContain('run 2');
      expect(worker.output()).not.toContain('run 3');
    } finally {
      await worker.stop();
    }
  });
});
