import { type AsyncHook, AsyncLocalStorage, createHook } from 'node:async_hooks';
import { forward } from '../../stores/contract.js';
import type { IdempotencyStore, StoreTransactions } from '../../stores/store.js';
import { clearTimeout, nextTurn, now, queueMicrotask } from '../timers.js';
import { placeInProgram } from './place.js';
import { MISSING, transactionsOver } from './transactions.js';

/** Functions with an effect outside the program, by name. */
export type Effects = Readonly<Record<string, (...args: never[]) => unknown>>;

/** An effect that has happened. */
interface Call {
  readonly effect: string;
  readonly place: string;
  /** The effect happened in a handler with the option `transaction`, outside of its `tx`, so a rollback does not undo it. */
  readonly isInTransaction: boolean;
  isPending: boolean;
}

/** A point at which a process can die: before an effect, or before the store records what was done. */
export interface Gate {
  /** The effect that did not happen, or `COMMIT`; `undefined` if the handler waits for something else. */
  readonly effect: string | undefined;
  readonly place: string;
}

/** How a process lives. */
interface LifeOptions {
  /** The number of the gate to die at, from 1 on. Without it, the process lives. */
  readonly diesAt?: number;
  readonly synchronous?: ReadonlySet<string>;
  /** The client that handlers with the option `transaction` get. Without it, the store has no transactions. */
  readonly tx?: unknown;
}

/** How long effects that have begun may take to end. */
const END_MS = 5_000;

/** The promise of anything that a dead process waits for. */
const never = () => new Promise<never>(() => {});

const lives = new AsyncLocalStorage<Life>();

/**
 * A simulated process with a receiver. It may die at one of its gates; from then on, nothing that it does
 * counts.
 */
export class Life {
  /** The effects that have happened. */
  readonly calls: Call[] = [];
  readonly gates: Gate[] = [];
  /** The effects that were still running when their delivery was recorded as done. */
  readonly unawaited: Call[] = [];
  /** The names of the effects that return no promise. */
  readonly synchronous = new Set<string>();
  readonly store: IdempotencyStore;
  readonly died: Promise<void>;
  #die: () => void = () => {};
  #isDying = false;
  #isDead = false;
  /** The place at which the handler has waited for something else since its last effect. */
  #waitsAt: string | undefined;
  /** The same, if that something may be a once() in which an effect without a promise has just happened. */
  #waitsInTurn: string | undefined;
  #isInTurn = false;
  #isInTransaction = false;
  #hook: AsyncHook | undefined;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #claims = new Map<string, number>();
  /** The keys of deliveries. An effect has a key of its own, and may be done while other handlers still run. */
  readonly #deliveries = new Set<string>();
  readonly #kept: IdempotencyStore;
  readonly #diesAt: number;
  readonly #knownSynchronous: ReadonlySet<string>;

  /**
   * Creates a process.
   *
   * @param kept - The store, which exists before the process begins and after it has died.
   */
  constructor(
    kept: IdempotencyStore,
    { diesAt = 0, synchronous = new Set<string>(), tx }: LifeOptions = {},
  ) {
    this.#kept = kept;
    this.#diesAt = diesAt;
    this.#knownSynchronous = synchronous;
    this.died = new Promise((resolve) => {
      this.#die = resolve;
    });
    this.store = this.#watched(kept, tx === undefined ? MISSING : this.#runs(kept, tx));
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Runs a function in this process, and records where it waits. Never settles if the process dies. */
  async run<Value>(run: () => Promise<Value>): Promise<Value> {
    this.#hook = createHook({
      init: (_id, type, _trigger, resource) => {
        if (lives.getStore() !== this) return;
        if (type === 'PROMISE') lives.exit(() => this.#waits());
        else if (type === 'Timeout' && isTimer(resource)) this.#timers.add(resource);
      },
    }).enable();
    try {
      return await lives.run(this, run);
    } finally {
      this.#hook.disable();
    }
  }

  /** Returns the effects, wrapped so that they happen only while the process lives. */
  observe<Observed extends Effects>(effects: Observed): Observed {
    const observed = Object.entries(effects).map(([name, perform]) => [
      name,
      this.#observed(name, perform),
    ]);
    // The names and the types are the same. After the death of the process, nothing looks at what an effect
    // returns.
    return Object.fromEntries(observed) as Observed;
  }

  #observed(effect: string, perform: (...args: never[]) => unknown) {
    return (...args: never[]): unknown => {
      if (this.#isDying) return never();
      const place = placeInProgram() ?? effect;
      if (this.#endsAt({ effect, place })) return never();
      const call = { effect, place, isPending: true, isInTransaction: this.#isInTransaction };
      this.calls.push(call);
      let result: unknown;
      try {
        // Do not record what the effect itself waits for.
        result = lives.exit(() => perform(...args));
      } catch (error) {
        this.#endedAtOnce(call);
        throw error;
      }
      if (isThenable(result)) return this.#awaited(call, result);
      this.#endedAtOnce(call);
      return result;
    };
  }

  #endedAtOnce(call: Call): void {
    this.synchronous.add(call.effect);
    this.#ended(call);
    this.#isInTurn = true;
    queueMicrotask(() => {
      this.#isInTurn = false;
    });
  }

  async #awaited(call: Call, result: PromiseLike<unknown>): Promise<unknown> {
    try {
      return await result;
    } finally {
      // A real effect, such as sending a mail, takes time, even if its double does not.
      await nextTurn();
      this.#ended(call);
    }
  }

  #ended(call: Call): void {
    call.isPending = false;
    this.#waitsAt = undefined;
  }

  #waits(): void {
    if (this.#waitsAt !== undefined || this.calls.length === 0) return;
    // While an effect is running, the handler waits for the effect.
    if (this.calls.some(({ isPending }) => isPending)) return;
    if (this.#isInTurn) this.#waitsInTurn ??= placeInProgram();
    else this.#waitsAt = placeInProgram();
  }

  /** Adds a gate, and returns whether the process dies there. */
  #endsAt(gate: Gate): boolean {
    this.gates.push(gate);
    if (this.gates.length !== this.#diesAt) return false;
    this.#isDying = true;
    void this.#end(gate);
    return true;
  }

  async #end({ effect }: Gate): Promise<void> {
    // Handlers run side by side: let the effects that have begun end and be recorded. No handler could
    // prevent a crash within them.
    const isAtOnce = effect !== undefined && this.#knownSynchronous.has(effect);
    if (!isAtOnce) {
      const giveUpAt = now() + END_MS;
      do {
        await nextTurn();
        await nextTurn();
      } while (this.calls.some(({ isPending }) => isPending) && now() < giveUpAt);
    }
    this.#isDead = true;
    this.#hook?.disable();
    // With the process, its timers stop, so that no lease is renewed and nothing new begins.
    for (const timer of this.#timers) clearTimeout(timer);
    for (const [key, fence] of this.#claims) await this.#kept.renew(key, fence, 0);
    this.#die();
  }

  #runs(kept: IdempotencyStore, tx: unknown): StoreTransactions<unknown> {
    return transactionsOver(kept, {
      isDead: () => this.#isDead,
      run: async (work) => {
        const before = this.calls.length;
        this.#isInTransaction = true;
        try {
          await work(tx);
        } finally {
          this.#isInTransaction = false;
        }
        this.#waitsAt = undefined;
        this.#waitsInTurn = undefined;
        const last = this.calls[this.calls.length - 1];
        // A crash or a deadlock undoes the transaction, but not these effects.
        if (!last || this.calls.length === before || this.#isDying) return;
        if (this.#endsAt({ effect: 'COMMIT', place: last.place })) await never();
      },
    });
  }

  #watched(kept: IdempotencyStore, transactions: StoreTransactions<unknown>): IdempotencyStore {
    const unless = (place: string | undefined, write: () => Promise<boolean>): Promise<boolean> => {
      this.#waitsAt = undefined;
      if (place === undefined || this.#isDying) return write();
      return this.#endsAt({ effect: undefined, place }) ? never() : write();
    };
    return forward(
      kept,
      {
        transactions,
        claim: async (...args) => {
          if (this.#isDead) return never();
          const [{ key, body }] = args;
          const claim = await kept.claim(...args);
          if (claim.state === 'acquired') this.#claims.set(key, claim.fence);
          if (body !== undefined) this.#deliveries.add(key);
          return claim;
        },
        // If timers cannot be observed, this ends the lease; otherwise no timer renews it.
        renew: async (...args) => !this.#isDead && kept.renew(...args),
        completeStep: (...args) =>
          this.#isDead ? never() : unless(this.#waitsAt, () => kept.completeStep(...args)),
        complete: (...args) => {
          if (this.#isDead) return never();
          if (this.#deliveries.has(args[0]))
            this.unawaited.push(...this.calls.filter(({ isPending }) => isPending));
          return unless(this.#waitsAt ?? this.#waitsInTurn, () => kept.complete(...args));
        },
      },
      (call) => (this.#isDead ? never() : call()),
    );
  }
}

function isTimer(resource: object): resource is NodeJS.Timeout {
  return 'refresh' in resource && 'unref' in resource;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  );
}
