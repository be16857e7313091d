import { expect, test } from 'vitest';
import { serveSelfSigned } from '../../support/self-signed.js';
import { run } from '../command.js';

test('dead names the reason why Redis cannot be reached, and not the password of its URL', async () => {
  const url = new URL(await serveSelfSigned(() => {}));
  for (const [host, reason] of [
    [`rediss://shop:a-password@${url.host}`, 'self-signed certificate'],
    ['redis://shop:a-password@127.0.0.1:1', 'connect ECONNREFUSED 127.0.0.1:1'],
  ] as const) {
    const { status, stderr } = await run(['dead', 'list', host]);
    expect(stderr).toBe(`storefront-webhooks: The store does not answer: Error: ${reason}\n`);
    expect(status).toBe(1);
  }
});
