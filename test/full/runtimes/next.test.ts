import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { SECRET } from '../../adapters/apps/inside/contract.js';
import { adapterContract, type Mounted } from '../../adapters/contract.js';
import { compileApps } from '../../runtimes/apps.js';
import { withRuntimes } from '../../runtimes/installed.js';
import { buildAndStartNext } from '../../runtimes/next.js';
import { makeProject, type Project } from '../../runtimes/project.js';
import type { Started } from '../../support/start.js';

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
    parsed: /export const config = { api: { bodyParser: false } };/,
  });
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
