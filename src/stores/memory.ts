import { UsageError } from '../errors/errors.js';
import { refuseUnknownOption } from '../errors/text.js';
import type { Json } from '../schemas/values.js';
import { type ReadFilter, type StoreVerbs, VERBS, withContract } from './contract.js';
import { type Entry, IS_IN, isStalled, MemoryEntries, stepBytes } from './memory-entries.js';
import {
  type Claim,
  type Claimable,
  COUNT_LIMIT,
  type CountFilter,
  type FailTerms,
  type IdempotencyStore,
  INTERRUPTED,
  KEEP_DEAD_MS,
  type LeaseTerms,
  type StoredDelivery,
} from './store.js';
import { toStored } from './stored.js';

/** The options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /** The most deliveries and effects that the store remembers. Default 100,000. */
  maxEntries?: number;
  /** The most bytes that they may take, approximately. Default 64 MiB. */
  maxBytes?: number;
}

/** The approximate size of a done entry, and of an unfinished one without its texts and its body. */
const DONE_BYTES = 400;
const ENTRY_BYTES = 800;
const NOTHING: Record<string, Json> = Object.freeze({});

/**
 * Remembers deliveries in the memory of this process, within bounds. To make room, the store first forgets done
 * deliveries, then those that wait longest for a retry, then effects of `oncePer` and goods. It never forgets a
 * delivery that is being processed.
 *
 * For development, tests and a single process. **The store cannot guarantee** that a delivery is processed once
 * across a restart, across several processes, or after its key was forgotten to make room.
 *
 * @throws {UsageError} `option_invalid`
 *
 * @example
 * createReceiver({ secret, store: memoryStore({ maxEntries: 10_000 }) });
 */
export function memoryStore(options: MemoryStoreOptions = {}): IdempotencyStore {
  const { maxEntries = 100_000, maxBytes = 64 * 1024 * 1024 } = options;
  refuseUnknownOption('memoryStore()', options, ['maxEntries', 'maxBytes']);
  for (const [name, value] of Object.entries({ maxEntries, maxBytes })) {
    if (!(value > 0))
      throw new UsageError(
        'option_invalid',
        `memoryStore() needs a ${name} above 0, not ${value}.`,
      );
  }
  const verbs = new MemoryStore(maxEntries, maxBytes);
  const store = withContract(verbs);
  made.set(store, { verbs, asMade: { ...store } });
  return store;
}

/** The stores of {@link memoryStore}, each with its implementation and a copy of its original verbs. */
const made = new WeakMap<
  IdempotencyStore,
  { readonly verbs: MemoryStore; readonly asMade: IdempotencyStore }
>();

/**
 * Returns the implementation of a {@link memoryStore}, or `undefined` for other stores and if a verb was replaced.
 * The receiver can use it without a guard: it never hangs, all of its results are valid, and the receiver's calls
 * fit the contract. With the guard, receive() would take 15 % longer.
 */
export function memoryBehind(store: IdempotencyStore): IdempotencyStore | undefined {
  const found = made.get(store);
  return found && VERBS.every((verb) => store[verb] === found.asMade[verb])
    ? found.verbs
    : undefined;
}

class MemoryStore implements StoreVerbs {
  readonly durable = false;
  readonly description = 'memory';
  readonly #entries: MemoryEntries;

  constructor(maxEntries: number, maxBytes: number) {
    this.#entries = new MemoryEntries(maxEntries, maxBytes);
  }

  async claim(delivery: Claimable, lease: LeaseTerms): Promise<Claim> {
    const now = clock();
    const entry = this.#remembered(delivery.key, now);
    if (!entry) return this.#claimNew(delivery, lease, now);
    if (entry.state === 'done') return { state: 'done' };
    if (entry.state === 'dead') return { state: 'dead' };

    const isMine = entry.state === 'leased' && entry.owner === lease.owner;
    if (!isMine && entry.notBefore > now) {
      return { state: 'busy', retryAfterMs: Math.ceil(entry.notBefore - now) };
    }
    if (!isMine) {
      entry.fence = nextFence(entry.fence, now);
      const lapsed = entry.state === 'leased';
      const leases = entry.attempts - entry.failures;
      // An expired lease counts as a crash if it was renewed, or is the first: otherwise, its claim's answer may have been lost.
      const counts = !lapsed || entry.renewed || leases <= 1;
      if (lapsed && counts && leases >= lease.maxCrashes) {
        this.#entries.setError(entry, INTERRUPTED);
        this.#end(entry, now);
        return { state: 'dead' };
      }
      entry.owner = lease.owner;
      entry.attempts += counts ? 1 : 0;
      entry.renewed = false;
      entry.purgeAt = Math.max(entry.purgeAt, now + lease.keepMs);
    }
    entry.notBefore = now + lease.leaseMs;
    this.#entries.move(entry, 'leased');
    return { state: 'acquired', fence: entry.fence, attempt: entry.attempts, steps: entry.steps };
  }

  async renew(key: string, fence: number, leaseMs: number): Promise<boolean> {
    const entry = this.#leased(key, fence);
    if (!entry) return false;
    entry.notBefore = clock() + leaseMs;
    entry.renewed = true;
    this.#entries.move(entry, 'leased');
    return true;
  }

  async completeStep(key: string, fence: number, step: string, output: Json): Promise<boolean> {
    const entry = this.#leased(key, fence);
    if (!entry) return false;
    const earlier = Object.hasOwn(entry.steps, step) ? entry.steps[step] : undefined;
    const replaced = earlier === undefined ? 0 : stepBytes(step, earlier);
    this.#entries.resize(entry, entry.bytes + stepBytes(step, output) - replaced);
    entry.steps = { ...entry.steps, [step]: output };
    return true;
  }

  async complete(key: string, fence: number, keepMs: number): Promise<boolean> {
    const entry = this.#entries.get(key);
    if (entry?.fence !== fence || (entry.state !== 'leased' && entry.state !== 'done'))
      return false;
    entry.purgeAt = Math.max(entry.purgeAt, clock() + keepMs);
    entry.delivery = undefined;
    entry.owner = '';
    entry.steps = NOTHING;
    entry.error = undefined;
    this.#entries.resize(entry, DONE_BYTES);
    this.#entries.move(entry, 'done');
    return true;
  }

  async fail(key: string, fence: number, terms: FailTerms): Promise<'retry' | 'dead' | 'lost'> {
    const entry = this.#entries.get(key);
    if (entry?.fence !== fence || entry.state === 'done') return 'lost';
    // A repeated call, as after a lost answer.
    if (entry.state !== 'leased') return entry.state;
    const now = clock();
    entry.failures += 1;
    this.#entries.setError(entry, terms.error);
    entry.notBefore = now;
    if (terms.permanent) {
      this.#end(entry, now);
      return 'dead';
    }
    this.#entries.move(entry, 'retry');
    return 'retry';
  }

  async release(key: string, fence: number): Promise<boolean> {
    const entry = this.#entries.get(key);
    if (entry?.fence === fence && entry.state === 'retry') return true;
    if (entry?.fence !== fence || entry.state !== 'leased') return false;
    entry.attempts -= 1;
    entry.notBefore = clock();
    this.#entries.move(entry, 'retry');
    return true;
  }

  async redrive(key: string): Promise<boolean> {
    const entry = this.#entries.get(key);
    const now = clock();
    if (!entry || (entry.state !== 'dead' && !isStalled(entry, now))) return false;
    entry.fence = nextFence(entry.fence, now);
    entry.attempts = 0;
    entry.failures = 0;
    this.#entries.setError(entry, undefined);
    entry.notBefore = now;
    this.#entries.move(entry, 'retry');
    return true;
  }

  async isDone(key: string): Promise<boolean> {
    return this.#remembered(key, clock())?.state === 'done';
  }

  async purge(limit: number): Promise<number> {
    const now = clock();
    const old = this.#entries
      .all()
      .filter(({ state, purgeAt }) => (state === 'done' || state === 'dead') && purgeAt <= now)
      .slice(0, limit);
    for (const entry of old) this.#entries.forget(entry);
    return old.length;
  }

  async list({ state, scope, after, limit }: ReadFilter): Promise<StoredDelivery[]> {
    const now = clock();
    return this.#entries
      .all()
      .filter((entry) => IS_IN[state](entry, now))
      .flatMap(({ delivery, ...entry }) =>
        delivery?.body && delivery.key > after && (scope ?? delivery.scope) === delivery.scope
          ? toStored(
              {
                ...entry,
                ...delivery,
                proof: delivery.proof,
                body: delivery.body,
                lapsed: entry.state === 'leased' && entry.notBefore < now,
              },
              state,
            )
          : [],
      )
      .sort((a, b) => (a.key < b.key ? -1 : 1))
      .slice(0, limit);
  }

  async count({ state, scope }: CountFilter): Promise<number> {
    return (await this.list({ state, scope, after: '', limit: COUNT_LIMIT })).length;
  }

  #remembered(key: string, now: number): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry?.state !== 'done' || entry.purgeAt > now) return entry;
    this.#entries.forget(entry);
    return undefined;
  }

  #claimNew(delivery: Claimable, { owner, leaseMs, keepMs }: LeaseTerms, now: number): Claim {
    const { key, scope, id, event, body, proof = '' } = delivery;
    const fence = nextFence(0, now);
    const entry: Entry = {
      key,
      delivery,
      state: 'leased',
      owner,
      fence,
      attempts: 1,
      failures: 0,
      renewed: false,
      steps: NOTHING,
      notBefore: now + leaseMs,
      purgeAt: now + keepMs,
      isForEver: keepMs === Number.POSITIVE_INFINITY,
      bytes:
        ENTRY_BYTES +
        2 * (scope.length + id.length + event.length + proof.length) +
        (body?.length ?? 0),
      error: undefined,
      older: undefined,
      newer: undefined,
    };
    this.#entries.add(entry, now);
    return { state: 'acquired', fence, attempt: 1, steps: NOTHING };
  }

  #end(entry: Entry, now: number): void {
    entry.purgeAt = Math.max(entry.purgeAt, now + KEEP_DEAD_MS);
    this.#entries.move(entry, 'dead');
  }

  #leased(key: string, fence: number): Entry | undefined {
    const entry = this.#entries.get(key);
    return entry?.state === 'leased' && entry.fence === fence ? entry : undefined;
  }
}

const ORIGIN = performance.timeOrigin;

// A monotonic clock: setting the system's clock must not lengthen or end a lease.
function clock(): number {
  return ORIGIN + performance.now();
}

function nextFence(previous: number, now: number): number {
  return Math.max(previous + 1, Math.floor(now));
}
