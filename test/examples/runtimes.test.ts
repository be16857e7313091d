import { readdirSync } from 'node:fs';
import { cp, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installed, withRuntimes } from '../runtimes/installed.js';
import { makeProject, type Project } from '../runtimes/project.js';
import { startWorker } from '../runtimes/workerd.js';
import { start } from '../support/start.js';
import { exampleShop, WEBHOOK_SECRET } from './shop.js';

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

  test('deno does not stumble over a Host header that is no host', async () => {
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

  exampleShop('workers', async () => {
    const folder = `${project.folder}/workers`;
    const settings = await readFile(`${folder}/wrangler.jsonc`, 'utf8');
    return startWorker(folder, {
      entry: `${folder}/index.ts`,
      compatibilityDate: /"compatibility_date": "([^"]+)"/.exec(settings)?.[1] ?? '',
      secrets: env,
    });
  });
});
