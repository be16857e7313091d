import { replay } from 'storefront-webhooks/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { applications } from '../adapters/applications.js';
import { makeContract, SECRET } from '../adapters/apps/inside/contract.js';
import { stillClocks } from '../support/still-clocks.js';

const mounts = await applications();

describe.each(stillClocks)('while the fake clock of a test stands still (%s)', (_, install) => {
  test.each(mounts)('%s answers a delivery', async (_, { serve }) => {
    const { port, close } = await serve(makeContract(() => {}));
    onTestFinished(close);
    onTestFinished(install());
    for (const path of ['webhooks', 'goods']) {
      const { status } = await replay(`http://127.0.0.1:${port}/${path}`, 'order:paid', {
        secret: SECRET,
      });
      expect([path, status]).toEqual([path, 200]);
    }
  });
});
