import { readdirSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { replay } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWrangler } from '../../cloudflare/wrangler.js';
import { exampleShop, WEBHOOK_SECRET } from '../../examples/shop.js';
import { installed, withRuntimes } from '../../runtimes/installed.js';
import { makeProject, type Project } from '../../runtimes/project.js';
import { start } from '../../support/start.js';

const env = { WEBHOOK_SECRET };

withRuntimes('the examples in Bun, Deno and workerd', () => {
  let project: Project;
  beforeAll(async () => {
    project = await makeProject('examples');
    for (const example of ['bun', 'deno.ts', 'workers'])
      await cp(`examples/${example}`, `${project.folder}/${example}`, { recursive: true });
  }, 120_000);
  afterAll(() => project?.remove());

  for (const file of readdirSync('examples/bun')) {
    const startBun = () =>
      start(installed('.bin/bun'), [`bun/${file}`], { cwd: project.folder, env });
    exampleShop(`bun/${file}`, startBun);
  }

  const startDeno = () => {
    const args = ['run', '--allow-net', '--allow-env', 'deno.ts'];
    return start(installed('.bin/deno'), args, { cwd: project.folder, env });
  };
  exampleShop('deno', startDeno);

  test('Deno handles a request with an invalid Host header', async () => {
    const shop = await startDeno();
    try {
      for (const host of ['a b[', '[', '127.0.0.1']) {
        const socket = connect(Number(new URL(shop.origin).port), '127.0.0.1');
        const head = `POST /webhooks HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 2\r\nConnection: close`;
        socket.end(`${head}\r\n\r\n{}`);
        expect(await text(socket), host).toMatch(/^HTTP\/1\.1 4\d\d /);
      }
      expect(shop.output()).not.toMatch(/error|invalid/i);
    } finally {
      await shop.stop();
    }
  });

  exampleShop('workers', () =>
    startWrangler(`${project.folder}/workers`, { vars: { WEBHOOK_SECRET } }),
  );

  test('a Worker remembers its deliveries after a restart', async () => {
    const state = `${project.folder}/state`;
    const outcomes: unknown[] = [];
    for (const id of ['first', 'the same order again']) {
      const shop = await startWrangler(`${project.folder}/workers`, {
        vars: { WEBHOOK_SECRET },
        state,
      });
      try {
        const secret = WEBHOOK_SECRET;
        outcomes.push(
          (await replay(`${shop.origin}/webhooks`, 'order:paid', { id, secret })).outcome,
        );
      } finally {
        await shop.stop();
      }
    }
    expect(outcomes).toEqual(['handled', 'duplicate']);
  });
});
