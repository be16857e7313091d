import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { IdempotencyStore } from 'storefront-webhooks';
import { describe, expect, test } from 'vitest';
import { guardStore } from '../../src/stores/guard.js';
import { type FaultyProxy, startFaultyProxy } from '../support/faulty-proxy.js';

/** A store on a client whose connections pass the proxies. */
export interface Silenced {
  readonly store: IdempotencyStore;
  /** How many connections it has when all of them are in use. */
  readonly connections: number;
  /** How many calls it takes to have all of them in use. */
  readonly calls: number;
  close(): unknown;
}

export interface SilentClient {
  /** The ports of the servers. */
  ports(): readonly number[];
  /** @param ports - Of the proxies, one for each server. */
  open(ports: readonly number[]): Promise<Silenced>;
  /** Whether it has the limits that docs/stores.md gives it, and comes back out of a black hole, too. */
  readonly isLimited: boolean;
  /** Whether it may use another connection for each call, so that silent ones are none of its concern. */
  readonly opensAnew?: boolean;
  /** How many of the servers fall silent, while the others answer. Default: all. */
  readonly silent?: number;
}

/** From when new connections work: 10 s, which `npm run chaos` holds; the rest is for a machine that stalls. */
const BACK_MS = 15_000;
/** The receiver waits 10 s for a call; the rest is for a machine that stalls. */
const FAILED_MS = 11_500;
/** Longer than any limit, so that what was opened in the hole is given up, too. */
const HOLE_MS = 6_000;
/** Shorter than any limit. */
const SILENT_MS = 900;
const PACE_MS = 400;

/** What a store does where connections stay open and carry nothing. */
export function describeSilence(clients: Record<string, SilentClient>): void {
  describe.concurrent.each(Object.entries(clients))('%s', (_, client) => {
    test('is back where all of its connections were in use when they went silent', async () => {
      await withClient(client, async (store, proxies, inUse) => {
        for (const proxy of proxies.slice(0, client.silent)) proxy.silence();
        const backMs = await untilAnswered(store, inUse.length);
        const inUseMs = await Promise.all(inUse);
        expect(backMs).toBeLessThan(BACK_MS);
        // Not by luck: they were silent.
        if (!client.opensAnew) expect(Math.max(...inUseMs)).toBeGreaterThan(SILENT_MS);
        expect(Math.max(...inUseMs)).toBeLessThan(FAILED_MS);
      });
    });

    if (!client.isLimited) return;
    test('fails in time in a black hole, and is back after it', async () => {
      await withClient(client, async (store, proxies, inUse) => {
        for (const proxy of proxies) proxy.blackHole();
        const answered = untilAnswered(store, inUse.length);
        const failedMs = await Promise.all([...inUse, settled(store)]);
        await pause(HOLE_MS);
        for (const proxy of proxies) proxy.heal();
        const healed = performance.now();
        await answered;
        expect(performance.now() - healed).toBeLessThan(BACK_MS);
        expect(Math.max(...failedMs)).toBeLessThan(FAILED_MS);
      });
    });
  });
}

/** With calls under way on all connections of the client. */
async function withClient(
  { ports, open }: SilentClient,
  run: (
    store: IdempotencyStore,
    proxies: readonly FaultyProxy[],
    inUse: readonly Promise<number>[],
  ) => Promise<void>,
): Promise<void> {
  const proxies = await Promise.all(ports().map(startFaultyProxy));
  const client = await open(proxies.map(({ port }) => port));
  const store = guardStore(client.store);
  const askAll = <Answer>(ask: (store: IdempotencyStore) => Promise<Answer>) =>
    Array.from({ length: client.calls }, () => ask(store));
  try {
    await Promise.all([...askAll(ask), ...askAll(ask)]);
    const openConnections = proxies.reduce((sum, proxy) => sum + proxy.open, 0);
    expect(openConnections).toBeGreaterThanOrEqual(client.connections);
    await run(store, proxies, askAll(settled));
  } finally {
    for (const proxy of proxies) proxy.heal();
    for (const proxy of proxies) proxy.cut();
    await client.close();
    await Promise.all(proxies.map((proxy) => proxy.close()));
  }
}

/** Asks again and again, as deliveries come, until all is answered; gives how long that took. */
async function untilAnswered(store: IdempotencyStore, calls: number): Promise<number> {
  const since = performance.now();
  await new Promise<void>((resolve) => {
    const timer = setInterval(async () => {
      const answers = await Promise.allSettled([
        claim(store),
        ...Array.from({ length: calls }, () => ask(store)),
      ]);
      if (answers.some(({ status }) => status === 'rejected')) return;
      clearInterval(timer);
      resolve();
    }, PACE_MS);
  });
  return performance.now() - since;
}

/** How long it takes, whatever comes of it. */
async function settled(store: IdempotencyStore): Promise<number> {
  const since = performance.now();
  await ask(store).catch(() => {});
  return performance.now() - since;
}

const newKey = () => randomBytes(32).toString('hex');

/** On a connection of its own, where there is one. */
const ask = (store: IdempotencyStore) => store.redrive(newKey());

/** Together with others. */
const claim = (store: IdempotencyStore) =>
  store.claim(
    {
      key: newKey(),
      scope: 'shop',
      id: 'whl_1',
      event: 'order:paid',
      receivedAt: Date.now(),
      body: new Uint8Array(),
    },
    { owner: randomUUID(), leaseMs: 60_000, keepMs: 60_000, maxCrashes: 3 },
  );
