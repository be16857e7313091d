import type { Delivery } from '../request/delivery.js';
import { toUnsigned, type UnsignedRequest } from '../request/request.js';
import type { Json } from '../schemas/json.js';
import type { WebhookEvent } from './handler.js';
import type { Lease } from './lease.js';

/** What a handler needs of the lease that it runs on. */
export type HandlerLease = Pick<
  Lease,
  'key' | 'steps' | 'signal' | 'hasEnded' | 'check' | 'completeStep'
>;

/** What one handler is given of one delivery, under the lease that it runs on. */
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
  readonly #lease: HandlerLease;
  readonly #body: Uint8Array;
  readonly #received: Delivery['request'];
  #request: UnsignedRequest | undefined;
  #rawBody: Uint8Array | undefined;
  #once: Once | undefined;

  /**
   * @param payload - The handler's own, to write to.
   * @param attempt - That of the delivery; `lease` may be an effect's.
   */
  constructor(
    delivery: Delivery,
    payload: unknown,
    attempt: number,
    handler: string,
    lease: HandlerLease,
  ) {
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

  // Made at first use: most handlers look at none of them.

  /** A copy of its own, to write to: the store may still have to keep what came. */
  get rawBody(): Uint8Array {
    // A Buffer has a slice of its own, which shares the bytes.
    this.#rawBody ??= Uint8Array.prototype.slice.call(this.#body);
    return this.#rawBody;
  }

  get request(): UnsignedRequest {
    this.#request ??= toUnsigned(this.#received.url, this.#received.headers);
    return this.#request;
  }

  get once(): Once {
    this.#once ??= createOnce(this.handler, this.#lease);
    return this.#once;
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

/** Makes the `once` of one handler: each step's result is kept under the lease and given again on a retry. */
export function createOnce(handler: string, lease: HandlerLease): Once {
  const running = new Map<string, Promise<Json>>();

  return async <Result>(step: string, run: () => Result | Promise<Result>): Promise<Result> => {
    const name = stepName(handler, step);
    if (Object.hasOwn(lease.steps, name)) return unpack(lease.steps[name]);
    const earlier = running.get(name);
    if (earlier) return unpack(await earlier);
    const first = perform(name, run);
    running.set(name, first);
    first.catch(() => running.delete(name));
    return unpack(await first);
  };

  async function perform(name: string, run: () => unknown): Promise<Json> {
    lease.check();
    const output = pack(await run());
    await lease.completeStep(name, output);
    return output;
  }
}

/** A list of one, or of none for `undefined`, which JSON has no word for. */
function pack(result: unknown): Json {
  return result === undefined ? [] : JSON.parse(JSON.stringify([result]));
}

/**
 * The first time as after a retry, what a step gives has been through JSON, so that both are the same;
 * and it is a copy, so that a handler that changes it does not change what was recorded.
 */
function unpack<Result>(output: Json | undefined): Result {
  const result = Array.isArray(output) ? output[0] : undefined;
  // The step is known by its name, so the caller's word on its type is the only one there is.
  return (result === undefined ? undefined : JSON.parse(JSON.stringify(result))) as Result;
}
