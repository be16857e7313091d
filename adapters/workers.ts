import { type ReceiverSource, toReceive } from '../src/receiver-source.js';
import { runsOn } from '../src/stores/platform.js';
import { respond } from './shared/web-response.js';

/** The part of Cloudflare's `ExecutionContext` that is used. */
export interface WorkerContext {
  waitUntil(promise: Promise<unknown>): void;
}

/**
 * Makes a Cloudflare Worker from a receiver.
 *
 * @param receiver - A function that makes the receiver from the environment, where the secret is. It is
 *   called once per `env`, so hand on the one that the runtime gave, and not a copy. Or a receiver.
 * @throws {UsageError} `receiver_invalid` where it is given neither.
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
        (promise) => context?.waitUntil(promise),
      ),
  };
}

const parsedBodyHint =
  'Hand the request to the fetch() of toWorker() before anything calls request.json() or request.text().';
