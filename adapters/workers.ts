import { type ReceiverSource, toReceive } from '../src/process/receiver-source.js';
import { runsOn } from '../src/stores/platform.js';
import { respond } from './shared/web-response.js';

/** The part of Cloudflare's `ExecutionContext` that this package uses. */
export interface WorkerContext {
  waitUntil(promise: Promise<unknown>): void;
}

/**
 * Makes a Cloudflare Worker from a receiver.
 *
 * @param receiver - A function that creates the receiver from the environment, which holds the secret. The
 *   worker calls it once per `env` object, so pass on the object from the runtime, not a copy. Or a receiver.
 * @throws {UsageError} `receiver_invalid` if `receiver` is anything else.
 *
 * @example
 * export default toWorker((env: Env) => createReceiver({ secret: env.WEBHOOK_SECRET }));
 */
export function toWorker<Env extends object>(
  receiver: ReceiverSource<Env>,
): { fetch(request: Request, env: Env, context?: WorkerContext): Promise<Response> } {
  const receive = toReceive(receiver, { isPerEnv: true });
  runsOn('workers');
  return {
    fetch: (request, env, context) =>
      respond(
        (asked) => receive(asked, env),
        request,
        parsedBodyHint,
        // Without a context, nothing lets the Worker go on after its response.
        (promise) => (context ? context.waitUntil(promise) : promise),
      ),
  };
}

const parsedBodyHint =
  'Pass the request to the fetch() of toWorker() before anything reads its body.';
