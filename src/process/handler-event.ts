import type { Delivery } from '../request/delivery.js';
import { checkOwnKey } from '../request/key.js';
import { toUnsigned, type UnsignedRequest } from '../request/request.js';
import type { Json } from '../schemas/values.js';
import type { StoreTransactions } from '../stores/store.js';
import type { WebhookEvent } from './handler.js';
import type { Lease } from './lease.js';

/** The part of a lease that a handler uses. */
export type HandlerLease = Pick<
  Lease,
  'key' | 'steps' | 'signal' | 'hasEnded' | 'check' | 'completeStep'
> &
  Partial<Pick<Lease, 'isDone'>>;

/** The transaction of a handler. */
export interface Transaction extends Pick<StoreTransactions<unknown>, 'refuseStep'> {
  readonly tx: unknown;
}

/** The event that one handler receives for one delivery, under the lease on which the handler runs. */
export class HandlerEvent implements WebhookEvent<string, unknown> {
  readonly id: string;
  readonly event: string;
  readonly payload: unknown;
  readonly key: string;
  readonly handler: string;
  readonly issues: Delivery['issues'];
  readonly scope: string;
  readonly attempt: number;
  readonly receivedAt: Date;
  readonly source: Delivery['source'];
  /** The client of the transaction, if the handler has one. */
  readonly tx?: unknown;
  readonly #lease: HandlerLease;
  readonly #transaction: Transaction | undefined;
  readonly #body: Uint8Array;
  readonly #received: Delivery['request'];
  #request: UnsignedRequest | undefined;
  #rawBody: Uint8Array | undefined;
  #steps: Steps | undefined;
  #isOver = false;

  /**
   * @param payload - For this handler alone, which may change it.
   * @param attempt - The attempt of the delivery; `lease` may be the lease of an effect.
   */
  constructor(
    delivery: Delivery,
    payload: unknown,
    attempt: number,
    handler: string,
    lease: HandlerLease,
    transaction?: Transaction,
  ) {
    this.#transaction = transaction;
    if (transaction) this.tx = transaction.tx;
    this.id = delivery.id;
    this.event = delivery.event;
    this.payload = payload;
    this.key = lease.key;
    this.handler = handler;
    this.issues = delivery.issues.map((issue) => ({ ...issue }));
    this.scope = delivery.scope;
    this.attempt = attempt;
    this.receivedAt = new Date(delivery.receivedAt);
    this.source = delivery.source;
    this.#lease = lease;
    this.#body = delivery.rawBody;
    this.#received = delivery.request;
  }

  // The following are created on first use, because most handlers use none of them.

  /** A copy for this handler, which may change it: the store may still have to keep the original. */
  get rawBody(): Uint8Array {
    // Not the `slice` of Buffer, which shares the bytes.
    this.#rawBody ??= Uint8Array.prototype.slice.call(this.#body);
    return this.#rawBody;
  }

  get request(): UnsignedRequest {
    this.#request ??= toUnsigned(this.#received.url, this.#received.headers);
    return this.#request;
  }

  get once(): Once {
    this.#transaction?.refuseStep();
    this.#steps ??= createSteps(this.handler, this.#lease, () => this.#isOver);
    return this.#steps.once;
  }

  /**
   * Returns the steps that are still running, or have failed without the handler noticing, after the handler has ended.
   * If none is left, no step that begins later is part of the handler.
   */
  unawaited(): readonly Promise<unknown>[] {
    const left = this.#steps?.unawaited() ?? [];
    this.#isOver = left.length === 0;
    return left;
  }

  get signal(): AbortSignal {
    return this.#lease.signal;
  }
}

export type Once = WebhookEvent<string, unknown>['once'];

/** The name under which a handler, or one step of it, is recorded. */
export function stepName(handler: string, step?: string): string {
  return JSON.stringify(step === undefined ? [handler] : [handler, step]);
}

interface Steps {
  readonly once: Once;
  readonly unawaited: () => readonly Promise<unknown>[];
}

/**
 * Makes the `once` of one handler. The lease keeps the result of each step, and a retry gets the same result.
 *
 * @param isOver - Whether the handler has ended, and its steps: then a failure has to be an unhandled rejection.
 */
export function createSteps(handler: string, lease: HandlerLease, isOver: () => boolean): Steps {
  const begun = new Map<string, Promise<Json>>();
  const results = new Set<StepResult<unknown>>();

  const once = <Result>(step: string, run: () => Result | Promise<Result>): Promise<Result> => {
    const taken = take<Result>(step, run);
    if (isOver()) return taken;
    const result = new StepResult<Result>((resolve) => resolve(taken));
    results.add(result);
    result.settled(() => results.delete(result));
    return result;
  };
  return {
    once,
    unawaited: () => [...results].filter(({ hasFailed, isRead }) => !hasFailed || !isRead),
  };

  async function take<Result>(step: string, run: () => unknown): Promise<Result> {
    const name = stepName(handler, checkOwnKey(step, 'once needs'));
    if (Object.hasOwn(lease.steps, name)) return unpack(lease.steps[name]);
    let output = begun.get(name);
    if (!output) {
      output = perform(name, run);
      begun.set(name, output);
      output.catch(() => begun.delete(name));
    }
    return unpack(await output);
  }

  async function perform(name: string, run: () => unknown): Promise<Json> {
    // Once the delivery is done, no retry runs this handler, so none needs the record.
    if (!lease.isDone) lease.check();
    const output = pack(await run());
    if (!lease.isDone) await lease.completeStep(name, output);
    return output;
  }
}

/**
 * The result of a step. Notes whether the handler reads it: a step that fails and is not awaited would otherwise pass
 * unnoticed, or end the process as an unhandled rejection.
 */
class StepResult<Result> extends Promise<Result> {
  isRead = false;
  hasFailed = false;

  // biome-ignore lint/suspicious/noThenProperty: It overrides the method of Promise.
  override then<A = Result, B = never>(
    onDone?: ((result: Result) => A | PromiseLike<A>) | null,
    onFailed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.isRead = true;
    return super.then(onDone, onFailed);
  }

  /** Calls `onDone` if the step succeeds. This does not count as reading the result. */
  settled(onDone: () => void): void {
    super.then(onDone, () => {
      this.hasFailed = true;
    });
  }
}

/** Wraps a result in a list, which is empty for `undefined`: JSON has no `undefined`. */
function pack(result: unknown): Json {
  return result === undefined ? [] : JSON.parse(JSON.stringify([result]));
}

/**
 * Returns the result of a step after a round trip through JSON, the first time and after a retry, so that both are
 * the same. It is a copy, so that a handler that changes it does not change what was recorded.
 */
function unpack<Result>(output: Json | undefined): Result {
  const result = Array.isArray(output) ? output[0] : undefined;
  // Only the name identifies a step, so its type is whatever the caller says.
  return (result === undefined ? undefined : JSON.parse(JSON.stringify(result))) as Result;
}

/**
 * Deeply copies a payload, so that a handler that changes its copy does not affect the others. Copies plain
 * objects and arrays; other values, which a schema of the user may have made, are shared. Not recursive, because a
 * payload may be nested deeper than the stack allows. A schema may also have made one that contains itself.
 */
export function clonePayload(payload: unknown): unknown {
  const copies = new Map<Plain, Plain>();
  const copyOf = (value: unknown): unknown => {
    if (!isPlain(value)) return value;
    if (!copies.has(value))
      copies.set(value, Array.isArray(value) ? Object.assign([], value) : { ...value });
    return copies.get(value);
  };
  const own = copyOf(payload);
  // This loop includes what it adds. A copy has each name as an own property, even __proto__: so it is replaced.
  for (const copy of copies.values())
    for (const name of Object.keys(copy)) copy[name] = copyOf(copy[name]);
  return own;
}

type Plain = Record<string, unknown>;

function isPlain(value: unknown): value is Plain {
  if (typeof value !== 'object' || value === null) return false;
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}
