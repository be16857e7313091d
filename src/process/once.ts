import type { Json } from '../schemas/json.js';
import type { WebhookEvent } from './handler.js';
import type { Lease } from './lease.js';

export type Once = WebhookEvent<string, unknown>['once'];

/** The name under which a handler, or one step of it, is recorded. */
export function progressName(handler: string, step?: string): string {
  return JSON.stringify(step === undefined ? [handler] : [handler, step]);
}

/** Makes the `once` of one handler: each step's result is kept under the lease and given again on a retry. */
export function createOnce(handler: string, lease: Lease): Once {
  const running = new Map<string, Promise<Json>>();

  return async <Result>(step: string, run: () => Result | Promise<Result>): Promise<Result> => {
    const name = progressName(handler, step);
    if (Object.hasOwn(lease.done, name)) return unpack(lease.done[name]);
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
    await lease.record(name, output);
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
