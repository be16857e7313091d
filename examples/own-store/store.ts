/**
 * A store of your own, over any database that can write a record on the condition that it has not changed since
 * it was read: DynamoDB, etcd, Firestore, NATS, a SQL table with a version. Here, a Map stands in for the
 * database.
 */
import {
  type Claim,
  type IdempotencyStore,
  type StoreVerbs,
  toStored,
  withContract,
} from 'storefront-webhooks';
import { type Entry, newEntry, type Records, stateOf, toDead } from './records.js';

export function recordStore(records: Records, durable: boolean): IdempotencyStore {
  /**
   * Replaces the latest entry by the next one, and repeats if another process was faster. Without a next one,
   * the entry stays as it is.
   */
  async function change<Result>(
    key: string,
    decide: (entry: Entry | undefined, now: number) => [result: Result, next?: Entry],
  ): Promise<Result> {
    for (;;) {
      const entry = await records.get(key);
      const [result, next] = decide(entry, Date.now());
      if (!next || (await records.replace(key, entry, next))) return result;
    }
  }
  /** Changes the entry if it is leased under this fence. */
  const changeLeased = (
    key: string,
    fence: number,
    to: (e: Entry, now: number) => Partial<Entry>,
  ) =>
    change<boolean>(key, (entry, now) =>
      entry?.state === 'leased' && entry.fence === fence
        ? [true, { ...entry, ...to(entry, now) }]
        : [false],
    );
  const isNow = async (key: string, fence: number, state: Entry['state']) => {
    const entry = await records.get(key);
    return entry?.fence === fence && entry.state === state;
  };

  const verbs: StoreVerbs = {
    durable,
    description: 'records',
    claim: (delivery, { owner, leaseMs, keepMs, maxCrashes }) =>
      change<Claim>(delivery.key, (found, now) => {
        const isOver = found?.state === 'done' && found.keepUntil <= now;
        const entry = found && !isOver ? found : newEntry(delivery);
        const { state, attempts, failures, dueAt } = entry;
        if (state === 'done' || state === 'dead') return [{ state }];
        const dueNext = { state: 'leased', owner, dueAt: now + leaseMs } as const;
        const grant = (next: Entry): [Claim, Entry] => {
          const { fence, attempts: attempt, steps } = next;
          return [{ state: 'acquired', fence, attempt, steps }, next];
        };
        if (state === 'leased' && entry.owner === owner) return grant({ ...entry, ...dueNext });
        if (dueAt > now) return [{ state: 'busy', retryAfterMs: dueAt - now }];
        // A lease that was never renewed does not count as an attempt, except the first: its answer was lost.
        const leases = attempts - failures;
        const counts = state !== 'leased' || entry.renewed || leases <= 1;
        const keepUntil = Math.max(entry.keepUntil, now + keepMs);
        if (state === 'leased' && counts && leases >= maxCrashes) {
          const error = 'it was interrupted too often';
          return [{ state: 'dead' }, { ...toDead(entry, now), error, lapsed: true }];
        }
        const fence = Math.max(now, entry.fence + 1);
        const tried = { fence, attempts: attempts + (counts ? 1 : 0), renewed: false, keepUntil };
        return grant({ ...entry, ...dueNext, ...tried });
      }),
    renew: (key, fence, leaseMs) =>
      changeLeased(key, fence, (_, now) => ({ dueAt: now + leaseMs, renewed: true })),
    completeStep: (key, fence, step, output) =>
      changeLeased(key, fence, ({ steps }) => ({ steps: { ...steps, [step]: output } })),
    complete: async (key, fence, keepMs) =>
      (await changeLeased(key, fence, ({ delivery, keepUntil }, now) => ({
        state: 'done',
        delivery: { ...delivery, body: undefined },
        keepUntil: Math.max(keepUntil, now + keepMs),
      }))) || isNow(key, fence, 'done'),
    fail: async (key, fence, { permanent, error }) => {
      await changeLeased(key, fence, (entry, now) => {
        const failed = { ...entry, failures: entry.failures + 1, error, dueAt: now };
        return permanent ? toDead(failed, now) : { ...failed, state: 'retry' };
      });
      if (await isNow(key, fence, 'retry')) return 'retry';
      return (await isNow(key, fence, 'dead')) ? 'dead' : 'lost';
    },
    release: async (key, fence) =>
      (await changeLeased(key, fence, ({ attempts }, now) => ({
        state: 'retry',
        attempts: attempts - 1,
        dueAt: now,
      }))) || isNow(key, fence, 'retry'),
    redrive: (key) =>
      change<boolean>(key, (entry, now) => {
        if (!entry || !['dead', 'stalled'].includes(stateOf(entry, now) ?? '')) return [false];
        const { delivery, fence, steps, keepUntil } = entry;
        return [true, { ...newEntry(delivery), fence: fence + 1, steps, keepUntil, dueAt: now }];
      }),
    purge: async (limit) => {
      let purged = 0;
      for (const entry of await records.all()) {
        const now = Date.now();
        if (purged >= limit || entry.keepUntil > now) continue;
        const { key, body } = entry.delivery;
        const isAbandoned = durable && body && stateOf(entry, now) === 'stalled';
        if (!isAbandoned && entry.state !== 'done' && entry.state !== 'dead') continue;
        // The last attempt may have done the work.
        const lapsed = entry.state === 'leased';
        const error = lapsed
          ? 'abandoned: its sender gave up after an interrupted attempt, so it may be done'
          : 'abandoned: its sender gave up before it was done';
        const next = isAbandoned ? { ...toDead(entry, now), error, lapsed } : undefined;
        if (await records.replace(key, entry, next)) purged++;
      }
      return purged;
    },
    list: async ({ state, scope, after, limit }) => {
      const now = Date.now();
      return (await records.all())
        .filter((entry) => stateOf(entry, now) === state)
        .flatMap(({ delivery: { body, proof, ...rest }, dueAt, lapsed = false, ...entry }) => {
          if (!body || rest.key <= after || (scope ?? rest.scope) !== rest.scope) return [];
          const hasLapsed = lapsed || (entry.state === 'leased' && dueAt < now);
          const error = entry.error;
          const row = {
            ...rest,
            ...entry,
            body,
            proof,
            error,
            notBefore: dueAt,
            lapsed: hasLapsed,
          };
          return [toStored(row, state)];
        })
        .sort((a, b) => (a.key < b.key ? -1 : 1))
        .slice(0, limit);
    },
    count: async (filter) =>
      (await verbs.list({ scope: undefined, ...filter, after: '', limit: 10_000 })).length,
    isDone: async (key) => {
      const entry = await records.get(key);
      return entry?.state === 'done' && entry.keepUntil > Date.now();
    },
  };
  return withContract(verbs);
}
