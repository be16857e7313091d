import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { sign } from 'storefront-webhooks/testing';
import { onWorkers } from '../../../tsup.config.js';
import { startWrangler } from '../../cloudflare/wrangler.js';
import { SECRET } from '../../support/deliver.js';
import type { Started } from '../../support/start.js';
import type { Faults, State } from './shop.js';

const ROOT = resolve(import.meta.dirname, '../../..');

const consumer = (queue: string) => [
  {
    queue,
    dead_letter_queue: `${queue}-dead`,
    max_retries: 2,
    max_batch_size: 20,
    max_batch_timeout: 0,
  },
  { queue: `${queue}-dead`, max_retries: 100, max_batch_timeout: 0 },
];

const SETTINGS = {
  queues: {
    producers: [
      { queue: 'webhooks', binding: 'WEBHOOKS' },
      { queue: 'd1-webhooks', binding: 'D1_WEBHOOKS' },
    ],
    consumers: [...consumer('webhooks'), ...consumer('d1-webhooks')],
  },
  r2_buckets: [{ bucket_name: 'bodies', binding: 'BODIES' }],
  d1_databases: [{ database_name: 'shop', database_id: 'shop', binding: 'DB' }],
};

/** The Worker of shop.ts, on the queue broker of workerd. */
export interface Shop extends Started {
  get<Answer>(path: string): Promise<Answer>;
  post(path: string, json?: unknown): Promise<unknown>;
  forgetReceivers(): Promise<unknown>;
  faults(faults: Faults): Promise<unknown>;
  state(): Promise<State>;
  /** Sends a signed paid order, and returns the answer. */
  deliver(
    path: string,
    body: string | Uint8Array,
    id: string,
    signal?: AbortSignal,
  ): Promise<string>;
}

export async function openShop(): Promise<Shop> {
  return client(await openWorker('shop', SETTINGS));
}

/** Serves a Worker of this folder on workerd, with the bindings of `settings`. */
export async function openWorker(
  name: string,
  settings: object,
  vars: Record<string, string> = {},
): Promise<Started> {
  const folder = await mkdtemp(join(tmpdir(), 'queue-'));
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 5 });
  try {
    await build({
      entryPoints: [join(import.meta.dirname, `${name}.ts`)],
      outfile: join(folder, 'worker.mjs'),
      bundle: true,
      format: 'esm',
      target: 'es2022',
      conditions: ['workerd', 'worker', 'browser'],
      tsconfig: join(ROOT, 'tsconfig.json'),
      plugins: [onWorkers],
      // Used only by the tests' own signatures, which the Worker does not call.
      external: ['node:*'],
    });
    const common = { name: 'queue-tests', main: 'worker.mjs', compatibility_date: '2026-10-01' };
    await writeFile(join(folder, 'wrangler.jsonc'), JSON.stringify({ ...common, ...settings }));
    const started = await startWrangler(folder, { vars });
    return { ...started, stop: () => started.stop().finally(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

function client(started: Started): Shop {
  const call = async (path: string, init?: RequestInit) => {
    const response = await fetch(started.origin + path, init);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const post = (path: string, json: unknown = {}) =>
    call(path, { method: 'POST', body: JSON.stringify(json) });
  return {
    ...started,
    get: (path) => call(path) as never,
    post,
    forgetReceivers: () => post('/receivers'),
    faults: (faults) => post('/faults', faults),
    state: () => call('/state') as Promise<State>,
    deliver: async (path, body, id, signal = AbortSignal.timeout(30_000)) => {
      const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
      const response = await fetch(started.origin + path, {
        method: 'POST',
        signal,
        headers: {
          'x-service-event': 'order:paid',
          'x-service-webhook': id,
          'x-service-signature': sign(bytes, SECRET),
        },
        body: Buffer.from(bytes),
      });
      const { outcome } = (await response.json()) as { outcome: string };
      return `${response.status} ${outcome}`;
    },
  };
}
