import { execFile } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { loadFixture, sign } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { WEBHOOK_SECRET } from '../examples/shop.js';
import { installed } from '../runtimes/installed.js';
import { makeProject, type Project } from '../runtimes/project.js';
import type { Started } from '../support/start.js';
import { startWrangler } from './wrangler.js';

const ADMIN_SECRET = 'another secret for tests';
export const WAIT = { timeout: 15_000, interval: 50 };
const paid = JSON.parse(Buffer.from(loadFixture('order:paid').body).toString());
const product: string = paid.product_id;

/** Runs examples/cloudflare in workerd while the tests of a file run, with a database that can be made to fail. */
export function useExample() {
  let project: Project;
  let folder: string;
  let shop: Started;

  const wrangler = async (...args: string[]) => {
    const command = [installed('wrangler/bin/wrangler.js'), ...args];
    const env = { ...process.env, CI: '1', WRANGLER_SEND_METRICS: 'false' };
    const run = promisify(execFile)(installed('node22/bin/node'), command, { cwd: folder, env });
    return (await run).stdout;
  };

  beforeAll(async () => {
    project = await makeProject('cloudflare');
    folder = `${project.folder}/cloudflare`;
    await cp('examples/cloudflare', folder, { recursive: true });
    // A delivery that fails is dead at once, instead of hours later.
    const settings = await readFile(`${folder}/wrangler.jsonc`, 'utf8');
    expect(settings).toContain('"max_retries": 10,');
    await writeFile(
      `${folder}/wrangler.jsonc`,
      settings
        .replace('"max_retries": 10,', '"max_retries": 0,')
        .replace('"main": "index.ts"', '"main": "faulty-cloudflare.ts"'),
    );
    const faulty = await readFile('test/cloudflare/faulty-example.ts', 'utf8');
    await writeFile(
      `${folder}/faulty-cloudflare.ts`,
      faulty.replace('../../examples/cloudflare/', './'),
    );
    const state = `${folder}/.wrangler/state`;
    await wrangler('d1', 'migrations', 'apply', 'shop', '--local', '--persist-to', state);
    shop = await startWrangler(folder, { vars: { WEBHOOK_SECRET, ADMIN_SECRET }, state });
    await restock(10);
  }, 120_000);
  afterAll(async () => {
    await shop?.stop();
    await project?.remove();
  });

  async function deliver(id: string, changes: object, secret = WEBHOOK_SECRET): Promise<string> {
    const body = JSON.stringify({ ...paid, ...changes });
    const response = await fetch(`${shop.origin}/webhooks`, {
      method: 'POST',
      headers: {
        'x-service-event': 'order:paid',
        'x-service-webhook': id,
        'x-service-signature': sign(Buffer.from(body), secret),
      },
      body,
    });
    const { outcome } = (await response.json()) as { outcome: string };
    return `${response.status} ${outcome}`;
  }

  const ask = async <Answer>(
    path: string,
    method = 'GET',
    json?: unknown,
    secret = ADMIN_SECRET,
  ) => {
    const response = await fetch(shop.origin + path, {
      method,
      headers: { authorization: `Bearer ${secret}` },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    return response.ok ? ((await response.json()) as Answer) : response.status;
  };
  const restock = (pieces: number) => ask('/stock', 'PUT', { product, pieces });
  const stockOf = (pieces: number) =>
    vi.waitFor(async () => expect(await ask('/stock')).toEqual([{ product, pieces }]), WAIT);

  return {
    deliver,
    ask,
    restock,
    stockOf,
    wrangler,
    output: () => shop.output(),
    out: () => `${folder}/.wrangler/out`,
  };
}
