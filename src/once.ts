import type { WebhookEvent } from './handler.js';
import type { Lease } from './lease.js';
import type { Json } from './schemas/json.js';

export type Once = WebhookEvent<string, unknown>['once'];

/** The name under which a handler, or one step of it, is recorded. */
export function progressName(handler: string, step?: string): string {
  return JSON.stringify(step === undefined ? [handler] : [handler, step]);
}

/** Makes the `once` of one handler: each step's result is kept under the lease and given again on a retry. */
export function createOnce(handler: string, lease: Lease): Once {
  // Made at first use: most handlers have no steps.
  let running: Map<string, Promise<unknown>> | undefined;

  return async <Result extends Json | undefined | void>(
    step: string,
    run: () => Result | Promise<Result>,
  ): Promise<Result> => {
    const name = progressName(handler, step);
    // What was stored is what this step returned before: the caller's type is the only word on it.
    if (Object.hasOwn(lease.done, name)) return lease.done[name] as Result;
    const earlier = running?.get(name) as Promise<Result> | undefined;
    if (earlier) return earlier;
    const first = runAndRecord(name, run);
    running ??= new Map();
    running.set(name, first);
    first.catch(() => running?.delete(name));
    return first;
  };

  async function runAndRecord<Result extends Json | undefined | void>(
    name: string,
    run: () => Result | Promise<Result>,
  ): Promise<Result> {
    lease.check();
    const result = await run();
    await lease.record(name, result ?? null);
    return result;
  }
}
