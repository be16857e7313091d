import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { build } from 'esbuild';
import { sign } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SECRET } from '../../adapters/apps/inside/contract.js';
import { adapterContract, type Mounted } from '../../adapters/contract.js';
import { compileApps } from '../../runtimes/apps.js';
import { withRuntimes } from '../../runtimes/installed.js';
import { buildAndStartNext, startNext } from '../../runtimes/next.js';
import { makeProject, type Project } from '../../runtimes/project.js';
import { paidOrder } from '../../support/deliver.js';
import type { Started } from '../../support/start.js';
import { Host } from '../frozen/host.js';

withRuntimes('the adapters in Next.js', () => {
  let project: Project;
  let next: Started;
  beforeAll(async () => {
    project = await makeProject('next');
    await writeApplication(project.folder);
    next = await buildAndStartNext(project.folder, { SECRET });
  }, 300_000);
  afterAll(async () => {
    await next?.stop();
    await project?.remove();
  });

  /** The part of the application below a path. */
  const below = (path: string) => async (): Promise<Mounted> => {
    const before = next.output().length;
    return {
      origin: next.origin + path,
      output: () => next.output().slice(before),
      stop: async () => {},
    };
  };

  const parsed = /export const POST = toNext\(receiver\)/;
  adapterContract('toNext in the App Router', below('/app'), { chunks: true, parsed });
  adapterContract('toNext on the edge runtime', below('/edge'), {
    runtime: /on edge-runtime/,
    chunks: true,
    holdsBack: true,
    parsed,
  });
  adapterContract('toNextPages in the Pages Router', below('/api'), {
    parsed:
      /export const config = { api: { bodyParser: false } }; If the line is there, a server in front of Next/,
  });

  test.each([
    ['toNext', '/app/frozen'],
    ['toNextPages', '/api/frozen'],
  ])(
    '%s has delivered the goods of an order once, if the platform stops the process after the response',
    async (_, path) => {
      const host = new Host(() => {});
      const platform = resolve('test/full/frozen/inside/next-platform.cjs');
      const shop = await startNext(project.folder, {
        HOST: await host.listen(),
        NODE_OPTIONS: `--require=${platform}`,
      });
      try {
        const body = JSON.stringify(paidOrder());
        const headers = {
          'x-service-event': 'order:paid',
          'x-service-webhook': 'whl_1',
          'x-service-signature': sign(Buffer.from(body), SECRET),
        };
        const { status } = await fetch(shop.origin + path, { method: 'POST', headers, body });
        expect(status).toBe(200);
        await host.updateOrder();
        expect(host.goods).toEqual(['ord_1']);
      } finally {
        await shop.stop();
        host.close();
      }
    },
  );
});

/** The handlers of each route of the application. */
const SOURCES = {
  webhooks: 'contract().receiver',
  lazy: 'contract().lazy()',
  down: 'contract().down',
  goods: 'contract().goods',
  parsed: 'contract().receiver',
};

/** Writes the contract's application for each router and runtime. */
async function writeApplication(folder: string): Promise<void> {
  const write = async (file: string, text: string) => {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  };
  await compileApps(folder, ['inside/contract.ts']);
  await build({
    entryPoints: ['test/full/frozen/inside/shop.ts'],
    outfile: join(folder, 'shop.mjs'),
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    // The package itself, instead of its sources.
    tsconfigRaw: {},
  });
  await write(
    'app/app/frozen/route.ts',
    `
import { toNext } from 'storefront-webhooks/next';
import { makeShop } from '../../../shop.mjs';
export const POST = toNext(() => makeShop(process.env.HOST ?? ''));
`,
  );
  await write(
    'pages/api/frozen.ts',
    `
import { toNextPages } from 'storefront-webhooks/next-pages';
import { makeShop } from '../../shop.mjs';
export const config = { api: { bodyParser: false } };
export default toNextPages(() => makeShop(process.env.HOST ?? ''));
`,
  );
  await write('package.json', '{ "private": true, "type": "module" }');
  for (const [name, source] of Object.entries(SOURCES)) {
    const reads = name === 'parsed' ? 'await request.json();' : '';
    for (const [base, runtime] of [
      ['app', 'nodejs'],
      ['edge', 'edge'],
    ]) {
      await write(
        `app/${base}/${name}/route.ts`,
        `
import { toNext } from 'storefront-webhooks/next';
import { makeContract } from '../../../contract.mjs';
export const runtime = '${runtime}';
${MAKE}
const webhooks = toNext(() => ${source});
const handler = async (request: Request) => { ${reads} return webhooks(request); };
export { handler as GET, handler as HEAD, handler as POST, handler as PUT, handler as PATCH, handler as DELETE, handler as OPTIONS };
`,
      );
    }
    await write(
      `pages/api/${name}.ts`,
      `
import { toNextPages } from 'storefront-webhooks/next-pages';
import { makeContract } from '../../contract.mjs';
${name === 'parsed' ? '' : 'export const config = { api: { bodyParser: false } };'}
${MAKE}
export default toNextPages(() => ${source});
`,
    );
  }
  const echo =
    'export const POST = async (request: Request) => Response.json(await request.json());';
  await write('app/app/echo/route.ts', echo);
  await write('app/edge/echo/route.ts', `export const runtime = 'edge';\n${echo}`);
  await write(
    'pages/api/echo.ts',
    'export default (request, response) => response.json(request.body);',
  );
}

const MAKE = `
let made: ReturnType<typeof makeContract> | undefined;
const contract = () => (made ??= makeContract((line) => console.log(line), process.env.SECRET ?? ''));`;
