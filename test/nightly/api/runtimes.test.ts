import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callProvider } from '../../api/inside/program.js';
import { json, type Reply, startProvider } from '../../api/provider.js';
import { installed, withRuntimes } from '../../runtimes/installed.js';
import { makeProject, type Project } from '../../runtimes/project.js';
import { startWorker } from '../../runtimes/workerd.js';

const RUNTIMES = [
  ['Node 20', [installed('node20/bin/node')]],
  ['Node 22', [installed('node22/bin/node')]],
  ['Node 24', [installed('node24/bin/node')]],
  ['Node 26', [installed('node26/bin/node')]],
  ['Bun', [installed('.bin/bun')]],
  ['Deno', [installed('.bin/deno'), 'run', '--allow-net', '--allow-env']],
] as const;

const AUTHORIZATION = `Basic ${Buffer.from('sëller@example.com:kéy∞').toString('base64')}`;

/** A small provider, by the requested path. */
function serve(): Reply {
  const product = { title: 'Tuner', product_type: 2 };
  let isFlaky = true;
  const order = (id: string) => ({ id, status: 100, email: 'buyer@example.com' });
  return (response, request) => {
    const { method, url, headers, body } = request;
    const answer = (reply: Reply) => reply(response, request);
    if (headers.authorization !== AUTHORIZATION) return answer(json(401, { message: 'Who?' }));
    switch (`${method} ${url?.replace('/api/v2', '')}`) {
      case 'GET /orders?page=1&per_page=10':
        return answer(json(200, [order('ord_1'), order('ord_2')], { 'X-Total-Pages': '2' }));
      case 'GET /orders?page=2&per_page=10':
        return answer(json(200, [order('ord_3')], { 'X-Total-Pages': '2' }));
      case 'POST /blacklist':
        return answer(
          json(201, {
            id: 'bl_1',
            ...Object.fromEntries(new URLSearchParams(body)),
            blacklist_type: 1,
          }),
        );
      case 'DELETE /products/prd%2F1':
        return answer(json(204));
      case 'GET /products/flaky': {
        if (!isFlaky) return answer(json(200, { id: 'flaky', ...product }));
        isFlaky = false;
        return response.destroy();
      }
      case 'GET /products/moved':
        return answer(json(302, {}, { location: '/api/v2/products/prd_1' }));
      case 'GET /products/silent':
        return response.writeHead(200, { 'content-type': 'application/json' }).write('{');
      default:
        return answer(json(404, { message: 'Not found.' }));
    }
  };
}

const RESULT = {
  orders: ['ord_1', 'ord_2', 'ord_3'],
  note: '∞ & ü',
  retried: 'Tuner',
  missing: ['not_found', 404],
  moved: ['redirected', 302],
  silent: ['timed_out', null],
  unreachable: ['unreachable', null],
  aborted: 'TimeoutError',
};

const NOBODY = 'http://127.0.0.1:2';

const provider = await startProvider();
afterAll(() => provider.stop());

test('a program calls the provider in this runtime', async () => {
  provider.answers(serve());
  expect(await callProvider(provider.origin, NOBODY)).toEqual(RESULT);
});

withRuntimes('a program that calls the provider', () => {
  let project: Project;
  beforeAll(async () => {
    project = await makeProject('client');
    await cp('test/api/inside', join(project.folder, 'inside'), { recursive: true });
    await build({
      entryPoints: [join(project.folder, 'inside/main.ts')],
      outfile: join(project.folder, 'main.mjs'),
      bundle: true,
      packages: 'external',
      format: 'esm',
      target: 'es2022',
      tsconfigRaw: {},
    });
  }, 120_000);
  afterAll(() => project?.remove());

  test.each(RUNTIMES)(
    'a program calls the provider on %s, and then exits',
    async (_, [command, ...options]) => {
      provider.answers(serve());
      const args = [...options, 'main.mjs', provider.origin, NOBODY];
      const run = promisify(execFile)(command, args, { cwd: project.folder, timeout: 30_000 });
      expect(JSON.parse((await run).stdout)).toEqual(RESULT);
    },
  );

  test.each(['2026-10-23', '2022-01-01'])(
    'a program calls the provider in workerd as of %s',
    async (compatibilityDate) => {
      provider.answers(serve());
      const worker = await startWorker(project.folder, {
        entry: join(project.folder, 'inside/worker.ts'),
        compatibilityDate,
        secrets: {},
        reaches: 'private',
      });
      try {
        const query = new URLSearchParams({ origin: provider.origin, nobody: NOBODY });
        const response = await fetch(`${worker.origin}?${query}`);
        expect(JSON.parse(await response.text()), worker.output()).toEqual(RESULT);
      } finally {
        await worker.stop();
      }
    },
  );
});
