import { testQueue } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { openDown, openRelay, type Relay } from '../../../queues/cloudflare/engine.js';
import { withRuntimes } from '../../../runtimes/installed.js';

withRuntimes('on the broker of workerd', () => {
  let relay: Relay;
  beforeAll(async () => {
    relay = await openRelay();
  });
  afterAll(() => relay?.stop());

  const lacks = {
    oneJob: 'Cloudflare Queues do not look for copies, each of which is a message',
    crash: 'the local broker keeps its messages in memory, and nobody can crash the real one',
  };
  testQueue(
    'Cloudflare',
    { open: (options) => relay.open(options), openDown, lacks },
    { describe, test },
  );
});
