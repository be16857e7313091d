import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import type { Claim, Claimable, IdempotencyStore, LeaseTerms } from 'storefront-webhooks';
import { afterAll, beforeAll } from 'vitest';
import { onWorkers } from '../../../tsup.config.js';
import { startWrangler } from '../../cloudflare/wrangler.js';
import { withRuntimes } from '../../runtimes/installed.js';
import { Remote } from '../../support/remote-store.js';
import { newFolder } from '../sqlite/remote.js';

export const SECRET = 'a secret for tests';

export interface Which {
  /** `storage`: in the object that the receiver runs in. */
  readonly store: 'd1' | 'durable-object' | 'storage';
  readonly shards?: number;
  /** The Durable Objects of this Worker never wake up to purge. */
  readonly sleeps?: boolean;
}

export interface Effect {
  readonly key: string;
  readonly handler: string;
}

/** A statement and its values. */
export type Sql = readonly [query: string, ...values: (string | number | null)[]];

type Row = Record<string, unknown>;

/** A store in the Worker, and further calls to it. */
export interface ServedStore extends IdempotencyStore {
  shiftClock(ms: number): Promise<void>;
  refusal(
    what: 'receiver' | 'd1' | 'objects',
    binding: 'KV' | 'SERVICE' | 'STUB' | 'NONE',
  ): Promise<void>;
  /** Runs a query in D1, or in the object of the shop. */
  sql(query: string): Promise<Row[]>;
  /** Runs statements in one batch of D1. */
  batch(statements: readonly Sql[]): Promise<Row[][]>;
  once(effect: Effect, statements: readonly Sql[]): Promise<boolean>;
  entered(keys: readonly string[]): Promise<string[]>;
  /** Runs a query in the SQLite of a Durable Object. */
  objectSql(shard: number, query: string): Promise<Row[]>;
  alarm(shard: number): Promise<number | null>;
  storePurge(limit: number): Promise<number>;
  raw(path: string, body: string): Promise<[status: number, json: string]>;
  wipe(): Promise<void>;
  sold(): Promise<Row[]>;
  claimLarge(delivery: Claimable, lease: LeaseTerms, size: number): Promise<Claim>;
}

const ROOT = resolve(import.meta.dirname, '../../..');

/** Puts the Worker into a folder, from which it can be served repeatedly. */
export async function buildWorker(folder: string): Promise<void> {
  cpSync(join(import.meta.dirname, 'wrangler.jsonc'), join(folder, 'wrangler.jsonc'));
  await build({
    entryPoints: [join(import.meta.dirname, 'worker.ts')],
    outfile: join(folder, 'worker.mjs'),
    bundle: true,
    format: 'esm',
    target: 'es2022',
    external: ['cloudflare:*', 'node:*'],
    conditions: ['workerd', 'worker', 'browser'],
    tsconfig: join(ROOT, 'tsconfig.json'),
    plugins: [onWorkers],
  });
}

/** Moves all times two minutes into the past. */
export const AGE = 'UPDATE webhook_delivery SET not_before = not_before - 120000';

/** Tests of stores in a Worker that is served for them. */
export function withWorker(name: string, tests: (worker: () => Served) => void): void {
  withRuntimes(name, () => {
    let worker: Served;
    beforeAll(async () => {
      const folder = newFolder();
      await buildWorker(folder);
      worker = await serveWorker(folder);
    });
    afterAll(() => worker?.kill());
    tests(() => worker);
  });
}

/** A Worker that is served. */
export interface Served {
  readonly origin: string;
  store(which: Which): ServedStore;
  /** Kills all of its processes with SIGKILL. */
  kill(): Promise<void>;
}

export async function serveWorker(folder: string): Promise<Served> {
  const worker = await startWrangler(folder, { vars: { SECRET } });
  const server = createServer();
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
  // The Worker connects back, because a request for each verb would take ten times as long.
  const connected = once(server, 'connection') as Promise<[Socket]>;
  void fetch(`${worker.origin}/connect?port=${port}`).catch(() => {});
  const [socket] = await connected;
  const remote = new Remote(socket, socket);
  socket.on('error', () => {});
  socket.once('close', () => remote.end('the Worker has ended'));
  return {
    origin: worker.origin,
    store: (which) => ({
      durable: true,
      description: 'in workerd',
      ...remote.verbs(MORE, { which }),
    }),
    async kill() {
      server.close();
      await worker.stop();
      socket.destroy();
    },
  };
}

const MORE = [
  'shiftClock',
  'refusal',
  'sql',
  'batch',
  'once',
  'entered',
  'objectSql',
  'alarm',
  'storePurge',
  'raw',
  'wipe',
  'sold',
  'claimLarge',
] as const;
