import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { IdempotencyStore } from 'storefront-webhooks';
import { expect, test } from 'vitest';
import { newFolder } from './sqlite/remote.js';
import { newDelivery } from './suite.js';

interface Opened {
  readonly store: IdempotencyStore;
  close(): unknown;
}

interface Predicates {
  /** The places where the store compares fences. */
  readonly file: string;
  /** Each comparison, and its replacement without the fence. */
  readonly pattern: RegExp;
  readonly gone: (predicate: string) => string;
}

/** Removes each fence predicate of a store in turn, and checks that a stale call is then accepted. */
export function everyFenceCounts(
  { file, pattern, gone }: Predicates,
  open: (source: string) => Promise<Opened>,
) {
  const source = readFileSync(file, 'utf8');
  const found = [...source.matchAll(pattern)];
  const acceptedBy = async (changed: string) => {
    const { store, close } = await open(changed);
    try {
      return await acceptedStale(store);
    } finally {
      await close();
    }
  };

  test('the unchanged store rejects every stale call', async () => {
    expect(found.length).toBeGreaterThan(0);
    expect(await acceptedBy(source)).toEqual([]);
  });

  test.each(found.map((match) => ({ line: lineOf(match), match })))(
    'without its fence, line $line accepts a stale call',
    async ({ match: { index, 0: predicate } }) => {
      const without =
        source.slice(0, index) + gone(predicate) + source.slice(index + predicate.length);
      expect(await acceptedBy(without)).not.toEqual([]);
    },
  );
}

function lineOf({ input, index }: RegExpExecArray): number {
  return input.slice(0, index).split('\n').length;
}

/** Returns the verbs that a store accepts from the former holder of a lease. */
async function acceptedStale(store: IdempotencyStore): Promise<string[]> {
  const terms = { permanent: false, error: '' };
  const verbs: Record<string, (key: string, fence: number) => Promise<unknown>> = {
    renew: (key, fence) => store.renew(key, fence, 60_000),
    completeStep: (key, fence) => store.completeStep(key, fence, 'a', null),
    complete: (key, fence) => store.complete(key, fence, 60_000),
    fail: async (key, fence) => (await store.fail(key, fence, terms)) !== 'lost',
    release: (key, fence) => store.release(key, fence),
  };
  const accepted: string[] = [];
  for (const [verb, call] of Object.entries(verbs)) {
    for (const state of ['leased', 'retry', 'done']) {
      const delivery = newDelivery();
      const stale = await claim(store, delivery, -1);
      const fresh = await claim(store, delivery, 60_000);
      if (state === 'retry') await store.fail(delivery.key, fresh, terms);
      if (state === 'done') await store.complete(delivery.key, fresh, 60_000);
      const alone = await call(delivery.key, stale);
      // Simultaneous calls may share a statement.
      const [together] = await Promise.all([
        call(delivery.key, stale),
        call(newDelivery().key, stale).catch(() => {}),
      ]);
      if (alone || together) accepted.push(`${verb} where it is ${state}`);
    }
  }
  return accepted;
}

async function claim(
  store: IdempotencyStore,
  delivery: ReturnType<typeof newDelivery>,
  leaseMs: number,
) {
  const terms = { owner: crypto.randomUUID(), leaseMs, keepMs: 60_000, maxCrashes: 9 };
  const result = await store.claim(delivery, terms);
  if (result.state !== 'acquired') throw new Error(`it is ${result.state}`);
  return result.fence;
}

/** A check that rejects another fence never rejects; a check that permits this fence permits every fence. */
export function negated(predicate: string): string {
  return /!==|~=/.test(predicate) ? 'false' : 'true';
}

/** Builds the sources with one changed file. */
export async function built<Module>(
  entry: string,
  file: string,
  contents: string,
): Promise<Module> {
  const outfile = join(newFolder(), 'store.mjs');
  await build({
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    plugins: [replacing(file, contents)],
  });
  return import(pathToFileURL(outfile).href);
}

export function replacing(file: string, contents: string) {
  return {
    name: 'replacing',
    setup(build: import('esbuild').PluginBuild) {
      build.onLoad({ filter: /\.ts$/ }, ({ path }) =>
        path === resolve(file) ? { contents, loader: 'ts' } : undefined,
      );
    },
  };
}
