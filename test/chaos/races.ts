import { createHash } from 'node:crypto';
import { Claimers } from './claimers.js';
import { Deadline } from './deadline.js';
import { type Call, isLinearizable } from './linearizable.js';
import type { Step } from './messages.js';
import { Random } from './random.js';
import type { TestedStore } from './stores.js';

const PROCESSES = 4;
const CLAIMS_EACH = 10;
/** The number of simultaneous races: enough to keep all processors busy. */
const AT_ONCE = 4;
const LEASE_MS = 60_000;
/** How long to wait for a lease of 1 ms to expire. */
const LAPSE_MS = 15;
const VERBS = ['renew', 'completeStep', 'complete', 'fail', 'release'] as const;
const KINDS = ['fresh', 'lapsed', 'retry'] as const;

export interface Races {
  readonly races: number;
  readonly claims: number;
  readonly withoutOneWinner: number;
  readonly staleCalls: number;
  readonly staleAccepted: number;
  readonly histories: number;
  readonly calls: number;
  readonly notLinearizable: number;
  /** The calls of the first violation. */
  readonly example: readonly Call[] | undefined;
}

/** Forty simultaneous claims, repeatedly, and histories that mix all verbs. */
export async function runRaces(
  store: TestedStore,
  seed: number,
  { races, limitMs }: { races: number; limitMs: number },
): Promise<Races> {
  const claimers = new Claimers();
  await claimers.start(store, PROCESSES);
  const deadline = new Deadline(`The races on ${store.name}`, limitMs);
  const totals = { withoutOneWinner: 0, staleCalls: 0, staleAccepted: 0, notLinearizable: 0 };
  let calls = 0;
  let example: readonly Call[] | undefined;
  const mixed = Math.ceil(races / 3);
  let next = 0;

  const check = (history: readonly Call[]) => {
    calls += history.length;
    if (isLinearizable(history)) return;
    totals.notLinearizable += 1;
    example ??= history;
  };
  const lane = async () => {
    while (next < races + mixed) {
      const index = next++;
      const key = createHash('sha256').update(`${seed} ${index}`).digest('hex');
      if (index >= races) {
        check(await mixVerbs(claimers, key, new Random(seed + index)));
        continue;
      }
      const { history, winners, stale } = await race(claimers, key, index);
      if (winners !== 1) totals.withoutOneWinner += 1;
      totals.staleCalls += stale.length;
      totals.staleAccepted += stale.filter(({ result }) => result !== 'refused').length;
      check(history);
    }
  };
  try {
    await deadline.limit(Promise.all(Array.from({ length: AT_ONCE }, lane)));
  } finally {
    claimers.close();
  }
  const claims = races * PROCESSES * CLAIMS_EACH;
  return { races, claims, ...totals, histories: races + mixed, calls, example };
}

/** Races for a key that is new, whose lease has expired, or whose delivery has failed, in turn. */
async function race(claimers: Claimers, key: string, index: number) {
  const kind = KINDS[index % KINDS.length];
  const before: Step[] = [];
  if (kind === 'lapsed') {
    before.push({ verb: 'claim', key, leaseMs: 1 }, { verb: 'pause', ms: LAPSE_MS });
  } else if (kind === 'retry') {
    before.push({ verb: 'claim', key, leaseMs: LEASE_MS }, { verb: 'fail', key });
  }
  const history = [...(await claimers.ask(index, [before]))];
  const old = history[0]?.fence;

  const claim: Step[] = [{ verb: 'claim', key, leaseMs: LEASE_MS }];
  const threads = Array.from({ length: CLAIMS_EACH }, () => claim);
  const asked = Array.from({ length: PROCESSES }, (_, process) => claimers.ask(process, threads));
  const claims = (await Promise.all(asked)).flat();
  history.push(...claims);
  const winner = claims.find(({ result }) => result === 'acquired');
  const winners = claims.filter(({ result }) => result === 'acquired').length;

  let stale: readonly Call[] = [];
  if (old !== undefined) {
    const steps = VERBS.map((verb): Step => ({ verb, key, fence: old }));
    stale = await claimers.ask(index, [steps]);
  }
  // The store still has to accept later calls of the winner, and must reject all others.
  const after: Step[] = [];
  if (winner?.fence !== undefined) {
    after.push({ verb: 'renew', key, fence: winner.fence, leaseMs: LEASE_MS });
    after.push({ verb: 'complete', key, fence: winner.fence });
    after.push({ verb: 'claim', key, leaseMs: LEASE_MS });
  }
  history.push(...stale, ...(await claimers.ask(index + 1, [after])));
  return { history, winners, stale };
}

/** A few processes claim, work, give up and return late at the same time. */
async function mixVerbs(claimers: Claimers, key: string, random: Random): Promise<Call[]> {
  const thread = (): Step[] => {
    const leaseMs = random.chance(0.4) ? random.between(1, 20) : LEASE_MS;
    const steps: Step[] = [{ verb: 'claim', key, leaseMs }];
    for (let more = random.between(1, 4); more > 0; more--) {
      if (random.chance(0.3)) steps.push({ verb: 'pause', ms: random.between(1, 25) });
      // Choose a completion rarely, because it ends the history.
      const verb = random.chance(0.1) ? 'complete' : random.pick(VERBS);
      if (random.chance(0.3)) steps.push({ verb: 'claim', key, leaseMs });
      else if (verb !== 'complete' || random.chance(0.4)) {
        steps.push({ verb, key, leaseMs: random.pick([5, LEASE_MS]) });
      }
    }
    return steps;
  };
  const plans = Array.from({ length: PROCESSES }, () => [thread(), thread(), thread()]);
  const asked = plans.map((threads, process) => claimers.ask(process, threads));
  return (await Promise.all(asked)).flat();
}
