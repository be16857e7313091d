import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';
import type { IdempotencyStore } from 'storefront-webhooks';
import { newFolder } from '../../support/folders.js';
import { Remote } from '../../support/remote-store.js';

/** The result of a delivery to a receiver in the process, and the messages of its errors. */
export interface Sale {
  readonly outcome: string;
  readonly ran: readonly string[];
  readonly errors: readonly string[];
}

/** A process with a store on a SQLite file. */
export interface RemoteStore extends IdempotencyStore {
  sql(sql: string): Promise<Record<string, unknown>[]>;
  exec(sql: string): Promise<void>;
  longestGap(ms: number): Promise<number>;
  sell(effect: { key: string; handler: string }, fails?: boolean): Promise<boolean>;
  /** The same in a transaction of the ledger; see `works` in process.ts. */
  transact(effect: { key: string; handler: string }, how?: string): Promise<boolean>;
  onceOutside(effect: { key: string; handler: string }): Promise<boolean>;
  /** Only in the process of {@link bundleProcess} that is `selling.ts`. */
  deliverPaid(order: string, id: string, how: string): Promise<Sale>;
  readonly process: ChildProcess;
  stop(): Promise<void>;
}

export { newFolder };

const ROOT = resolve(import.meta.dirname, '../../..');
let bundle: Promise<string> | undefined;

/** Bundles the process once per file of tests, whose folder is removed afterwards. */
async function usualProcess(): Promise<string> {
  if (bundle === undefined || !existsSync(await bundle)) bundle = bundleProcess();
  return bundle;
}

/** The process as one file. */
export async function bundleProcess(plugins: Plugin[] = [], entry = 'process.ts'): Promise<string> {
  const outfile = join(newFolder(), 'process.mjs');
  await build({
    entryPoints: [join(import.meta.dirname, entry)],
    bundle: true,
    platform: 'node',
    format: 'esm',
    tsconfig: join(ROOT, 'tsconfig.json'),
    external: ['node:*', 'bun:*'],
    plugins,
    outfile,
  });
  return outfile;
}

/**
 * @param command - A runtime, with the arguments that run a file.
 * @param code - Another process than the usual one.
 */
export async function openStore(
  command: readonly string[],
  driver: string,
  file: string,
  code?: string,
): Promise<RemoteStore> {
  const [runtime = '', ...options] = command;
  const child = spawn(runtime, [...options, code ?? (await usualProcess()), driver, file], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const remote = new Remote(child.stdout, child.stdin);
  const ended = new Promise<string>((resolve) => {
    child.once('close', () => resolve('the process has ended'));
    // A runtime that is not installed. No other event follows.
    child.once('error', (error) => resolve(error.message));
  });
  void ended.then((why) => remote.end(why));
  return {
    durable: await remote.ask('durable'),
    description: await remote.ask('description'),
    ...remote.verbs([
      'sql',
      'exec',
      'longestGap',
      'sell',
      'transact',
      'onceOutside',
      'deliverPaid',
    ]),
    process: child,
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
