import { UsageError, WebhookError } from '../errors.js';
import type { Json } from '../schemas/json.js';
import { type Aged, AgeList } from './age-list.js';
import type {
  Claim,
  Claimable,
  FailTerms,
  IdempotencyStore,
  LeaseTerms,
  StoredDelivery,
} from './store.js';

export interface MemoryStoreOptions {
  /** How many deliveries and effects it remembers. Default 100,000. */
  maxEntries?: number;
  /** How many bytes they may take, roughly. Default 64 MiB. */
  maxBytes?: number;
}

interface Entry extends Aged<Entry> {
  readonly key: string;
  /** Not kept once it is done. */
  delivery: Claimable | undefined;
  state: 'leased' | 'retry' | 'done' | 'dead';
  owner: string;
  fence: number;
  attempts: number;
  failures: number;
  done: Record<string, Json>;
  /** Leased: when the lease lapses. Retry: when it is due. */
  notBefore: number;
  purgeAt: number;
  bytes: number;
  error: string | undefined;
}

/** What a stalled delivery is past due by before it is listed. */
const STALLED_MS = 60_000;
/** The rough cost of an entry: done, and while it has still to be done, beside its texts and its body. */
const DONE_BYTES = 400;
const ENTRY_BYTES = 800;
const NOTHING: Record<string, Json> = Object.freeze({});

/**
 * Remembers deliveries in this process's memory, within bounds: what is done is forgotten first, then
 * what waits longest for a retry, never what is being processed.
 *
 * For development, tests and a single process. **It cannot promise** that a delivery is processed once
 * across a restart, across several processes, or after its key was forgotten to make room.
 *
 * @example
 * createReceiver({ secret, store: memoryStore({ maxEntries: 10_000 }) });
 */
export function memoryStore({
  maxEntries = 100_000,
  maxBytes = 64 * 1024 * 1024,
}: MemoryStoreOptions = {}): IdempotencyStore {
  for (const [name, value] of Object.entries({ maxEntries, maxBytes })) {
    if (!(value > 0))
      throw new UsageError('option_invalid', `memoryStore needs a ${name} above 0, not ${value}.`);
  }
  return new MemoryStore(maxEntries, maxBytes);
}

class MemoryStore implements IdempotencyStore {
  readonly durable = false;
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  readonly #entries = new Map<string, Entry>();
  readonly #byState = {
    done: new AgeList<Entry>(),
    retry: new AgeList<Entry>(),
    dead: new AgeList<Entry>(),
    leased: new AgeList<Entry>(),
  };
  #bytes = 0;

  constructor(maxEntries: number, maxBytes: number) {
    this.#maxEntries = maxEntries;
    this.#maxBytes = maxBytes;
  }

  async claim(delivery: Claimable, lease: LeaseTerms): Promise<Claim> {
    const now = clock();
    const entry = this.#entries.get(delivery.key);
    if (!entry) return this.#claimNew(delivery, lease, now);
    if (entry.state === 'done' && entry.purgeAt <= now) {
      this.#forget(entry);
      return this.#claimNew(delivery, lease, now);
    }
    if (entry.state === 'done') return { state: 'done' };
    if (entry.state === 'dead') return { state: 'dead', error: entry.error };

    const mine = entry.state === 'leased' && entry.owner === lease.owner;
    if (mine) entry.notBefore = now + lease.leaseMs;
    else if (entry.notBefore > now)
      return { state: 'busy', retryAfterMs: Math.ceil(entry.notBefore - now) };
    else if (entry.state === 'leased' && entry.attempts - entry.failures >= lease.maxCrashes) {
      entry.fence = nextFence(entry.fence, now);
      entry.error = 'it was interrupted too often';
      this.#move(entry, 'dead');
      return { state: 'dead', error: entry.error };
    } else {
      entry.owner = lease.owner;
      entry.fence = nextFence(entry.fence, now);
      entry.attempts += 1;
      entry.notBefore = now + lease.leaseMs;
      this.#move(entry, 'leased');
    }
    return {
      state: 'acquired',
      fence: entry.fence,
      attempt: entry.attempts,
      done: entry.done,
    };
  }

  async renew(key: string, fence: number, leaseMs: number): Promise<boolean> {
    const entry = this.#leased(key, fence);
    if (!entry) return false;
    entry.notBefore = clock() + leaseMs;
    this.#move(entry, 'leased');
    return true;
  }

  async handlerDone(key: string, fence: number, handler: string, output: Json): Promise<boolean> {
    const entry = this.#leased(key, fence);
    if (!entry) return false;
    entry.done = { ...entry.done, [handler]: output };
    this.#resize(entry, handler.length + JSON.stringify(output).length);
    return true;
  }

  async complete(key: string, fence: number, keepMs: number): Promise<boolean> {
    const entry = this.#entries.get(key);
    if (entry?.fence !== fence || (entry.state !== 'leased' && entry.state !== 'done'))
      return false;
    entry.purgeAt = clock() + keepMs;
    entry.delivery = undefined;
    entry.owner = '';
    entry.done = NOTHING;
    this.#resize(entry, DONE_BYTES - entry.bytes);
    this.#move(entry, 'done');
    return true;
  }

  async fail(key: string, fence: number, terms: FailTerms): Promise<'retry' | 'dead' | 'lost'> {
    const entry = this.#leased(key, fence);
    if (!entry) return 'lost';
    entry.failures += 1;
    entry.error = terms.error;
    entry.notBefore = clock() + terms.delayMs;
    const state = terms.permanent || entry.failures >= terms.maxFailures ? 'dead' : 'retry';
    this.#move(entry, state);
    return state;
  }

  async release(key: string, fence: number): Promise<boolean> {
    const entry = this.#leased(key, fence);
    if (!entry) return false;
    entry.attempts -= 1;
    entry.notBefore = clock();
    this.#move(entry, 'retry');
    return true;
  }

  async purge(limit: number): Promise<number> {
    const now = clock();
    const old = [...this.#entries.values()]
      .filter(({ state, purgeAt }) => (state === 'done' || state === 'dead') && purgeAt <= now)
      .slice(0, limit);
    for (const entry of old) this.#forget(entry);
    return old.length;
  }

  async list({
    state,
    after = '',
    limit,
  }: Parameters<IdempotencyStore['list']>[0]): Promise<StoredDelivery[]> {
    const overdue = clock() - STALLED_MS;
    return [...this.#entries.values()]
      .filter((entry) =>
        state === 'dead'
          ? entry.state === 'dead'
          : (entry.state === 'leased' || entry.state === 'retry') && entry.notBefore < overdue,
      )
      .flatMap(({ delivery, attempts, error }) =>
        delivery?.body && delivery.key > after
          ? { ...delivery, body: delivery.body, state, attempts, error }
          : [],
      )
      .sort((a, b) => (a.key < b.key ? -1 : 1))
      .slice(0, limit);
  }

  #claimNew(delivery: Claimable, { owner, leaseMs, keepMs }: LeaseTerms, now: number): Claim {
    const bytes =
      ENTRY_BYTES +
      2 * (delivery.scope.length + delivery.id.length + delivery.event.length) +
      (delivery.body?.length ?? 0);
    this.#makeRoom(bytes);
    const fence = nextFence(0, now);
    const entry: Entry = {
      key: delivery.key,
      delivery,
      state: 'leased',
      owner,
      fence,
      attempts: 1,
      failures: 0,
      done: NOTHING,
      notBefore: now + leaseMs,
      purgeAt: now + keepMs,
      bytes,
      error: undefined,
      older: undefined,
      newer: undefined,
    };
    this.#entries.set(entry.key, entry);
    this.#byState.leased.add(entry);
    this.#bytes += bytes;
    return { state: 'acquired', fence, attempt: 1, done: NOTHING };
  }

  #leased(key: string, fence: number): Entry | undefined {
    const entry = this.#entries.get(key);
    return entry?.state === 'leased' && entry.fence === fence ? entry : undefined;
  }

  #move(entry: Entry, state: Entry['state']): void {
    this.#byState[entry.state].remove(entry);
    this.#byState[state].add(entry);
    entry.state = state;
  }

  #resize(entry: Entry, bytes: number): void {
    entry.bytes += bytes;
    this.#bytes += bytes;
  }

  #makeRoom(bytes: number): void {
    const { done, retry, dead } = this.#byState;
    while (this.#entries.size >= this.#maxEntries || this.#bytes + bytes > this.#maxBytes) {
      const entry = done.oldest ?? retry.oldest ?? dead.oldest ?? this.#lapsed();
      if (!entry) {
        throw new WebhookError(
          'store_full',
          'The memory store is full of deliveries that are being processed. ' +
            'Raise its maxEntries or maxBytes, or use a durable store.',
        );
      }
      this.#forget(entry);
    }
  }

  #lapsed(): Entry | undefined {
    const { oldest } = this.#byState.leased;
    return oldest && oldest.notBefore <= clock() ? oldest : undefined;
  }

  #forget(entry: Entry): void {
    this.#entries.delete(entry.key);
    this.#byState[entry.state].remove(entry);
    this.#bytes -= entry.bytes;
  }
}

const ORIGIN = performance.timeOrigin;

// Steady: setting the system's clock must not lengthen or end a lease.
function clock(): number {
  return ORIGIN + performance.now();
}

function nextFence(previous: number, now: number): number {
  return Math.max(previous + 1, Math.floor(now));
}
