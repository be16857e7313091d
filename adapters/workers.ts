import { runsOn } from '../src/stores/platform.js';
import { type Receive, type ReceiverSource, toReceive } from './shared/receiver.js';
import { respond } from './shared/web.js';

/** The part of Cloudflare's `ExecutionContext` that is used. */
export interface WorkerContext {
  waitUntil(promise: Promise<unknown>): void;
}

/**
 * Makes a Cloudflare Worker from a receiver.
 *
 * @param receiver - A function that makes the receiver from the environment, where the secret is. It is
 *   called once per `env`, so hand on the one that the runtime gave, and not a copy. Or a receiver.
 * @throws {TypeError} `receiver_invalid` where it is given neither.
 *
 * @example
 * export default toWorker((env: Env) => createReceiver({ secret: env.WEBHOOK_SECRET }));
 */
export function toWorker<Env extends object>(
  receiver: ReceiverSource<Env>,
): { fetch(request: Request, env: Env, context?: WorkerContext): Promise<Response> } {
  const fixed = typeof receiver === 'function' ? undefined : toReceive<Env>(receiver);
  runsOn('workers');
  const made = new WeakMap<object, Receive<Env>>();
  return {
    fetch(request, env, context) {
      const key = env ?? made;
      const receive = fixed ?? made.get(key) ?? toReceive<Env>(receiver);
      if (!fixed) made.set(key, receive);
      const waitUntil = (promise: Promise<unknown>) => context?.waitUntil(promise);
      const answered = respond(
        (asked) => receive(asked, env),
        request,
        { parsedBodyHint },
        waitUntil,
      );
      // A handler that has begun finishes, even if the sender has hung up.
      waitUntil(answered);
      return answered;
    },
  };
}

const parsedBodyHint =
  'Hand the request to the fetch() of toWorker() before anything calls request.json() or request.text().';
