import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { IdempotencyStore } from 'storefront-webhooks';
import { describe, expect, test } from 'vitest';
import { guardStore } from '../../src/stores/guard.js';
import { type FaultyProxy, startFaultyProxy } from '../support/faulty-proxy.js';

/** A store on a client whose connections pass through the proxies. */
export interface Silenced {
  readonly store: IdempotencyStore;
  /** The number of connections if all of them are in use. */
  readonly connections: number;
  /** The number of calls that use all connections. */
  readonly calls: number;
  close(): unknown;
}

export interface SilentClient {
  /** The ports of the servers. */
  ports(): readonly number[];
  /** @param ports - The ports of the proxies, one for each server. */
  open(ports: readonly number[]): Promise<Silenced>;
  /** Whether it has the limits of docs/stores.md, and recovers from a black hole as well. */
  readonly isLimited: boolean;
  /** Whether it may use a new connection for each call, so that silent connections do not matter. */
  readonly opensAnew?: boolean;
  /** The number of servers that fall silent while the others answer. Default: all. */
  readonly silent?: number;
}

/** New connections work after 10 s, which `npm run chaos` checks. The rest is for a slow machine. */
const BACK_MS = 15_000;
/** The receiver waits 10 s for a call. The rest is for a slow machine. */
const FAILED_MS = 11_500;
/** Longer than any limit, so that connections that were opened in the hole are given up. */
const HOLE_MS = 6_000;
/** A call that takes longer than this was on a silent connection. Shorter than any limit. */
const SILENT_MS = 900;
const PACE_MS = 400;

/** Tests a store whose connections stay open and carry nothing. */
export function describeSilence(clients: Record<string, SilentClient>): void {
  describe.concurrent.each(Object.entries(clients))('%s', (_, client) => {
    test('works again after all of its connections went silent during calls', async () => {
      await withClient(client, async (store, proxies, inUse) => {
        for (const proxy of proxies.slice(0, client.silent)) proxy.silence();
        const backMs = await untilAnswered(store, inUse.length);
        const inUseMs = await Promise.all(inUse);
        expect(backMs).toBeLessThan(BACK_MS);
        // Check that the connections were really silent.
        if (!client.opensAnew) expect(Math.max(...inUseMs)).toBeGreaterThan(SILENT_MS);
        expect(Math.max(...inUseMs)).toBeLessThan(FAILED_MS);
      });
    });

    if (!client.isLimited) return;
    test('fails within its time limit while the network drops every packet, and works again afterwards', async () => {
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

/** Runs with pending calls on all connections of the client. */
async function withClient(
  { ports, open }: SilentClient,
  run: (
    store: IdempotencyStore,
    proxies: readonly FaultyProxy[],
    inUse: readonly Promise<number>[],
  ) => Promise<void>,
): Promise<void> {
  const proxies = await Promise.all(ports().map((port) => startFaultyProxy(port)));
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

/** Repeats the calls, as deliveries do, until all are answered. Returns the time in milliseconds. */
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

/** Returns the duration of a call, whether it succeeds or fails. */
async function settled(store: IdempotencyStore): Promise<number> {
  const since = performance.now();
  await ask(store).catch(() => {});
  return performance.now() - since;
}

const newKey = () => randomBytes(32).toString('hex');

/** On its own connection, if the client has several. */
const ask = (store: IdempotencyStore) => store.redrive(newKey());

/** Together with other calls. */
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
