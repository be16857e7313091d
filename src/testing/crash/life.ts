import { type AsyncHook, AsyncLocalStorage, createHook } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { forward } from '../../stores/forward.js';
import type { IdempotencyStore } from '../../stores/store.js';
import { placeInProgram } from './place.js';

/** Functions that do something in the world, by their names. */
export type Effects = Readonly<Record<string, (...args: never[]) => unknown>>;

/** An effect that has taken place. */
interface Call {
  readonly effect: string;
  readonly place: string;
  isPending: boolean;
}

/** Where a process can die: before an effect, or before the store hears of what is done. */
export interface Gate {
  /** The effect that did not happen; `undefined` where the handler waits for something else. */
  readonly effect: string | undefined;
  readonly place: string;
}

/** How long what has begun may take to end. */
const END_MS = 5_000;

/** What a process that has died is waiting for. */
const never = () => new Promise<never>(() => {});

const lives = new AsyncLocalStorage<Life>();

/** A process that has a receiver, and may die at one of its gates: from then on nothing that it does counts. */
export class Life {
  /** What it has done. */
  readonly calls: Call[] = [];
  readonly gates: Gate[] = [];
  /** What was still on its way when its delivery was recorded as done. */
  readonly unawaited: Call[] = [];
  /** Those that give no promise, by name. */
  readonly synchronous = new Set<string>();
  readonly store: IdempotencyStore;
  readonly died: Promise<void>;
  #die: () => void = () => {};
  #isDying = false;
  #isDead = false;
  /** Where it has waited for something else since its last effect. */
  #waitsAt: string | undefined;
  /** The same, where it may be a once() that it waits for: an effect without a promise has happened within it. */
  #waitsInTurn: string | undefined;
  #isInTurn = false;
  #hook: AsyncHook | undefined;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #claims = new Map<string, number>();
  readonly #kept: IdempotencyStore;
  readonly #diesAt: number;
  readonly #knownSynchronous: ReadonlySet<string>;

  /**
   * @param kept - What is there when it begins, and is there still when it has died.
   * @param diesAt - The number of the gate, from 1 on. Without it, it lives.
   */
  constructor(
    kept: IdempotencyStore,
    {
      diesAt = 0,
      synchronous = new Set<string>(),
    }: { diesAt?: number; synchronous?: ReadonlySet<string> } = {},
  ) {
    this.#kept = kept;
    this.#diesAt = diesAt;
    this.#knownSynchronous = synchronous;
    this.died = new Promise((resolve) => {
      this.#die = resolve;
    });
    this.store = this.#watched(kept);
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Runs what is part of this life, and looks at where it waits. Never settles where it dies. */
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

  /** Effects that take place while it lives. */
  observe<Observed extends Effects>(effects: Observed): Observed {
    const observed = Object.entries(effects).map(([name, perform]) => [
      name,
      this.#observed(name, perform),
    ]);
    // Under the same names, of the same shapes: what it gives for the time after its death is never looked at.
    return Object.fromEntries(observed) as Observed;
  }

  #observed(effect: string, perform: (...args: never[]) => unknown) {
    return (...args: never[]): unknown => {
      if (this.#isDying) return never();
      const place = placeInProgram() ?? effect;
      if (this.#endsAt({ effect, place })) return never();
      const call = { effect, place, isPending: true };
      this.calls.push(call);
      let result: unknown;
      try {
        // What it is made of is not looked at.
        result = lives.exit(() => perform(...args));
      } catch (error) {
        this.#ended(call);
        throw error;
      }
      if (isThenable(result)) return this.#awaited(call, result);
      this.synchronous.add(effect);
      this.#ended(call);
      this.#isInTurn = true;
      queueMicrotask(() => {
        this.#isInTurn = false;
      });
      return result;
    };
  }

  async #awaited(call: Call, result: PromiseLike<unknown>): Promise<unknown> {
    try {
      return await result;
    } finally {
      // A mail takes its time, also where a test sends none.
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
    // While an effect is on its way, it is the effect that is waited for.
    if (this.calls.some(({ isPending }) => isPending)) return;
    if (this.#isInTurn) this.#waitsInTurn ??= placeInProgram();
    else this.#waitsAt = placeInProgram();
  }

  /** Whether this is where it dies. */
  #endsAt(gate: Gate): boolean {
    this.gates.push(gate);
    if (this.gates.length !== this.#diesAt) return false;
    this.#isDying = true;
    void this.#end(gate);
    return true;
  }

  async #end({ effect }: Gate): Promise<void> {
    // Handlers run side by side: what they have begun ends, and is recorded. That nobody could do otherwise.
    const isAtOnce = effect !== undefined && this.#knownSynchronous.has(effect);
    if (!isAtOnce) {
      const giveUpAt = performance.now() + END_MS;
      do {
        await nextTurn();
        await nextTurn();
      } while (this.calls.some(({ isPending }) => isPending) && performance.now() < giveUpAt);
    }
    this.#isDead = true;
    this.#hook?.disable();
    // With its process, a lease is renewed no more, and nothing is begun by a clock.
    for (const timer of this.#timers) clearTimeout(timer);
    for (const [key, fence] of this.#claims) await this.#kept.renew(key, fence, 0);
    this.#die();
  }

  #watched(kept: IdempotencyStore): IdempotencyStore {
    const unless = (place: string | undefined, write: () => Promise<boolean>): Promise<boolean> => {
      this.#waitsAt = undefined;
      if (place === undefined || this.#isDying) return write();
      return this.#endsAt({ effect: undefined, place }) ? never() : write();
    };
    return forward(
      kept,
      {
        claim: async (...args) => {
          if (this.#isDead) return never();
          const claim = await kept.claim(...args);
          if (claim.state === 'acquired') this.#claims.set(args[0].key, claim.fence);
          return claim;
        },
        // Where timers cannot be seen, the lease is ended by this; else it is renewed no more.
        renew: async (...args) => !this.#isDead && kept.renew(...args),
        completeStep: (...args) =>
          this.#isDead ? never() : unless(this.#waitsAt, () => kept.completeStep(...args)),
        complete: (...args) => {
          if (this.#isDead) return never();
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
