import type {
  Claim,
  Claimable,
  CountFilter,
  FailTerms,
  IdempotencyStore,
  Json,
  LeaseTerms,
  StoredDelivery,
  UnfinishedState,
} from 'storefront-webhooks';

/** Times in the future, just past, or so long ago that the sender has given up. */
export const LATER_MS = 60_000;
export const PAST_MS = -1;
export const LONG_AGO_MS = -120_000;

const INTERRUPTED = 'it was interrupted too often';
const ABANDONED = 'abandoned: its sender gave up before it was done';
const ABANDONED_INTERRUPTED =
  'abandoned: its sender gave up after an interrupted attempt, so it may be done';

interface Entry {
  readonly delivery: Claimable;
  state: 'leased' | 'retry' | 'done' | 'dead';
  owner: string;
  fence: number;
  attempts: number;
  failures: number;
  renewed: boolean;
  steps: Record<string, Json>;
  /** The end of the lease or the time of the retry, relative to now: no call takes time. */
  dueMs: number;
  /** A dead delivery is kept for review, and as long again after a redrive. */
  keepMs: number;
  error: string | undefined;
}

/** The required behaviour of a store, in the simplest form, without a clock. */
export class ModelStore implements IdempotencyStore {
  readonly durable: boolean;
  readonly #entries = new Map<string, Entry>();

  constructor(durable: boolean) {
    this.durable = durable;
  }

  async claim(
    delivery: Claimable,
    { owner, leaseMs, keepMs, maxCrashes }: LeaseTerms,
  ): Promise<Claim> {
    const entry = this.#entries.get(delivery.key) ?? newEntry(delivery, keepMs);
    this.#entries.set(delivery.key, entry);
    if (entry.state === 'done') return { state: 'done' };
    if (entry.state === 'dead') return { state: 'dead' };
    const isMine = entry.state === 'leased' && entry.owner === owner;
    if (!isMine && entry.dueMs > 0) return { state: 'busy', retryAfterMs: entry.dueMs };
    if (!isMine) {
      entry.fence += 1;
      const leases = entry.attempts - entry.failures;
      const lapsed = entry.state === 'leased';
      // The answer to a lease that was never renewed was lost, unless it was the first.
      const counts = !lapsed || entry.renewed || leases <= 1;
      if (lapsed && counts && leases >= maxCrashes) {
        Object.assign(entry, { state: 'dead', error: INTERRUPTED, keepMs: LATER_MS });
        return { state: 'dead' };
      }
      if (counts) entry.attempts += 1;
      entry.keepMs = Math.max(entry.keepMs, keepMs);
      entry.renewed = false;
    }
    Object.assign(entry, { state: 'leased', owner, dueMs: leaseMs });
    const { fence, attempts, steps } = entry;
    return { state: 'acquired', fence, attempt: attempts, steps };
  }

  async renew(key: string, fence: number, leaseMs: number): Promise<boolean> {
    return change(this.#held(key, fence), { dueMs: leaseMs, renewed: true });
  }

  async completeStep(key: string, fence: number, step: string, output: Json): Promise<boolean> {
    const held = this.#held(key, fence);
    return change(held, { steps: { ...held?.steps, [step]: output } });
  }

  async complete(key: string, fence: number): Promise<boolean> {
    const entry = this.#entries.get(key);
    if (entry?.state === 'done' && entry.fence === fence) return true;
    return change(this.#held(key, fence), { state: 'done' });
  }

  async fail(key: string, fence: number, terms: FailTerms): Promise<'retry' | 'dead' | 'lost'> {
    const entry = this.#entries.get(key);
    if (entry?.fence === fence && (entry.state === 'retry' || entry.state === 'dead'))
      return entry.state;
    const held = this.#held(key, fence);
    if (!held) return 'lost';
    const failures = held.failures + 1;
    const state = terms.permanent ? 'dead' : 'retry';
    const keepMs = state === 'dead' ? LATER_MS : held.keepMs;
    change(held, { state, failures, dueMs: 0, error: terms.error, keepMs });
    return state;
  }

  async release(key: string, fence: number): Promise<boolean> {
    const entry = this.#entries.get(key);
    if (entry?.fence === fence && entry.state === 'retry') return true;
    const held = this.#held(key, fence);
    return change(held, { state: 'retry', dueMs: 0, attempts: (held?.attempts ?? 0) - 1 });
  }

  async redrive(key: string): Promise<boolean> {
    const entry = this.#entries.get(key);
    if (!entry || (entry.state !== 'dead' && !isStalled(entry))) return false;
    const anew = { state: 'retry', dueMs: 0, attempts: 0, failures: 0, error: undefined } as const;
    return change(entry, { ...anew, fence: entry.fence + 1 });
  }

  async purge(limit: number): Promise<number> {
    const abandoned = [...this.#entries.values()]
      .filter((entry) => entry.delivery.body && isStalled(entry) && entry.keepMs <= 0)
      .slice(0, this.durable ? limit : 0);
    for (const entry of abandoned) {
      const error = entry.state === 'leased' ? ABANDONED_INTERRUPTED : ABANDONED;
      change(entry, { state: 'dead', error, keepMs: LATER_MS });
    }
    return abandoned.length;
  }

  async list({ state }: CountFilter): Promise<StoredDelivery[]> {
    return [...this.#entries.values()]
      .filter((entry) => stateOf(entry) === state)
      .flatMap(({ delivery: { body, ...rest }, attempts, error, dueMs, ...entry }) =>
        body
          ? [
              {
                ...rest,
                body,
                receivedAt: new Date(rest.receivedAt),
                state,
                attempts,
                error,
                interrupted:
                  (entry.state === 'leased' && dueMs < 0) ||
                  (state === 'dead' && (error === INTERRUPTED || error === ABANDONED_INTERRUPTED)),
                orderId: JSON.parse(new TextDecoder().decode(body)).id,
                email: undefined,
                lastTriedAt: attempts > 0 ? new Date() : undefined,
                dueAt: state === 'dead' ? undefined : new Date(Date.now() + dueMs),
              },
            ]
          : [],
      )
      .sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  async count(filter: CountFilter): Promise<number> {
    return (await this.list(filter)).length;
  }

  /** Returns the entry if this fence still holds its lease. */
  #held(key: string, fence: number): Entry | undefined {
    const entry = this.#entries.get(key);
    return entry?.state === 'leased' && entry.fence === fence ? entry : undefined;
  }
}

function newEntry(delivery: Claimable, keepMs: number): Entry {
  const counts = { fence: 0, attempts: 0, failures: 0, renewed: false };
  return {
    delivery,
    keepMs,
    ...counts,
    state: 'retry',
    owner: '',
    steps: {},
    dueMs: 0,
    error: undefined,
  };
}

function isStalled({ state, dueMs }: Entry): boolean {
  return (state === 'leased' || state === 'retry') && dueMs === LONG_AGO_MS;
}

/** Returns the state under which it is listed, if any. */
function stateOf(entry: Entry): UnfinishedState | undefined {
  const { state, failures, attempts, dueMs } = entry;
  if (state === 'dead') return 'dead';
  if (state === 'done') return undefined;
  if (isStalled(entry)) return 'stalled';
  const hasLapsed = state === 'leased' && dueMs < 0;
  return failures > 0 || attempts > 1 || hasLapsed ? 'failing' : undefined;
}

function change(entry: Entry | undefined, changes: Partial<Entry>): boolean {
  if (entry) Object.assign(entry, changes);
  return entry !== undefined;
}
