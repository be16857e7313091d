import { type FaultyProxy, startFaultyProxy } from '../support/faulty-proxy.js';
import { Deadline } from './deadline.js';
import { drain } from './drain.js';
import { type LoadKind, pausing } from './fault-run.js';
import { Load } from './load.js';
import type { Random } from './random.js';
import { Receivers } from './receivers.js';
import { Recovery } from './recovery.js';
import { Sender } from './sender.js';
import type { TestedStore } from './stores.js';

const PROCESSES = 4;
/** How long to wait for a receiver to work again after a fault. */
const RECOVERY_MS = 30_000;
const SETTLE_MS = 60_000;
export const NETWORK_PREFIX = 'net-';

const KINDS = ['silence', 'black hole', 'lost answers', 'cut', 'silence'] as const;

/** A fault of the connections of all receivers at the same time. */
export interface NetworkFault {
  readonly kind: (typeof KINDS)[number];
  /** Whether the fault affects only the connections to the store, or also those to a separate database of effects. */
  readonly servers: 'store' | 'all';
  readonly holeMs: number;
  readonly lost: number;
  /** The pause between the recovery of all receivers and the next fault. */
  readonly calmMs: number;
}

export function planNetwork(random: Random, faults: number, blackHoleMs: number): NetworkFault[] {
  return Array.from({ length: faults }, (_, index) => ({
    // Take the kinds in turn, so that each happens equally often.
    kind: KINDS[index % KINDS.length] ?? 'silence',
    servers: random.chance(0.5) ? 'all' : 'store',
    holeMs: random.between(2_000, blackHoleMs),
    lost: random.between(2, 20),
    calmMs: random.between(300, 1_500),
  }));
}

export interface NetworkRun {
  readonly load: Load;
  readonly receivers: Receivers;
  readonly sender: Sender;
  readonly happened: number;
  /** The time after each silence and each black hole until the last receiver worked again. */
  readonly recoveries: readonly { readonly kind: string; readonly ms: number }[];
}

/** Delivers while the connections of the receivers fall silent, break, or lose answers. */
export async function runNetwork(
  store: TestedStore,
  seed: number,
  { plan, limitMs }: { plan: readonly NetworkFault[]; limitMs: number },
  { prefix = NETWORK_PREFIX, handlers = '' }: Partial<LoadKind> = {},
): Promise<NetworkRun> {
  const proxies = await Promise.all(store.servers.map(({ port }) => startFaultyProxy(port)));
  const receivers = new Receivers(throughProxies(store, proxies), [], pausing(seed, handlers));
  await receivers.start(PROCESSES);
  const recovery = new Recovery();
  const sender = new Sender(
    () => receivers.targets,
    (answered) => recovery.heard(answered),
  );
  const load = new Load(sender, {
    prefix,
    seed,
    deadline: new Deadline(`The run with network faults on ${store.name}`, limitMs),
    settleMs: SETTLE_MS,
  });
  const recoveries: { kind: string; ms: number }[] = [];
  let happened = 0;

  const harm = async () => {
    await well(recovery, receivers);
    for (const fault of plan) {
      if (load.isGivenUp) return;
      const hit = fault.servers === 'all' ? proxies : proxies.slice(0, 1);
      await cause(fault, hit, recovery);
      happened += 1;
      const ms = await well(recovery, receivers);
      if (fault.kind === 'silence' || fault.kind === 'black hole') {
        recoveries.push({ kind: fault.kind, ms });
      }
      await new Promise((resolve) => setTimeout(resolve, fault.calmMs));
    }
  };
  try {
    await load.runBeside(harm);
    if (store.handsOff) await drain(store, () => receivers.any, load.ids, prefix);
    return { load, receivers, sender, happened, recoveries };
  } finally {
    load.giveUp();
    await receivers.close();
    sender.close();
    await Promise.all(proxies.map((proxy) => proxy.close()));
  }
}

function well(recovery: Recovery, receivers: Receivers): Promise<number> {
  return recovery.all(() => receivers.targets, RECOVERY_MS);
}

/** Causes a fault, and resolves when new connections are possible again. */
async function cause(
  { kind, holeMs, lost }: NetworkFault,
  proxies: readonly FaultyProxy[],
  recovery: Recovery,
): Promise<void> {
  switch (kind) {
    case 'silence':
      for (const proxy of proxies) proxy.silence();
      break;
    case 'black hole':
      for (const proxy of proxies) proxy.blackHole();
      await new Promise((resolve) => setTimeout(resolve, holeMs));
      for (const proxy of proxies) proxy.heal();
      break;
    case 'lost answers':
      for (const proxy of proxies) proxy.loseAnswers(lost);
      break;
    case 'cut':
      for (const proxy of proxies) proxy.cut();
  }
  recovery.begin();
}

/** Returns the same store behind these proxies, one for each of its servers. The books have no proxy. */
function throughProxies(store: TestedStore, proxies: readonly FaultyProxy[]): TestedStore {
  const addresses = store.servers.map(({ variable }, index) => {
    const url = new URL(store.environment[variable] ?? '');
    url.port = `${proxies[index]?.port}`;
    return [variable, url.href] as const;
  });
  return { ...store, environment: { ...store.environment, ...Object.fromEntries(addresses) } };
}
