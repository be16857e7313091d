import { once } from 'node:events';
import { cp } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { loadFixture, sign } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { SECRET } from '../../adapters/apps/inside/contract.js';
import { withRuntimes } from '../../runtimes/installed.js';
import { makeProject, type Project } from '../../runtimes/project.js';
import { startWorker } from '../../runtimes/workerd.js';

withRuntimes('the adapter in workerd', () => {
  let project: Project;
  beforeAll(async () => {
    project = await makeProject('workerd');
    await cp('test/adapters/apps', join(project.folder, 'apps'), { recursive: true });
  }, 120_000);
  afterAll(() => project?.remove());

  test('handles a delivery whose invocation the platform has ended, when its lease has expired', async () => {
    const worker = await startWorker(project.folder, {
      entry: join(project.folder, 'apps/inside/cancelled.ts'),
      compatibilityDate: '2026-10-23',
      secrets: { SECRET },
    });
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
