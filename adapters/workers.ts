import { type ReceiverSource, toReceive } from '../src/process/receiver-source.js';
import { withTimeout } from '../src/runtime/timing.js';
import { runsOn } from '../src/stores/platform.js';
import { respond } from './shared/web-response.js';

/** The part of Cloudflare's `ExecutionContext` that this package uses. */
export interface WorkerContext {
  waitUntil(promise: Promise<unknown>): void;
}

/**
 * Makes a Cloudflare Worker from a receiver.
 *
 * Pass the `context` of the runtime on to `fetch`. Without it, a response waits for work that would go on after it: up to
 * 10 s, and after a wait in vain up to 2 s. If a sender hangs up meanwhile, the runtime cancels that work, which then never
 * ends.
 *
 * @param receiver - A function that creates the receiver from the environment, which holds the secret. The
 *   worker calls it once per `env` object, so pass on the object from the runtime, not a copy. Or a receiver.
 *
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
  // Short after a wait in vain, until one ends in time: Workers end the work of a request whose sender has hung up, so the
  // late work may never end, and each response waits for it. Longer than the pause between two tries to record an outcome.
  let waitMs: number | undefined;
  return {
    fetch: (request, env, context) =>
      respond(
        (asked) => receive(asked, env),
        request,
        parsedBodyHint,
        // Without a context, nothing lets the Worker go on after its response, which waits for the late work of all
        // deliveries: not for long, because one of them may have a record that the store does not accept for minutes.
        (promise) =>
          context
            ? context.waitUntil(promise)
            : withTimeout(promise, '', waitMs).then(
                () => {
                  waitMs = undefined;
                },
                () => {
                  waitMs = 2_000;
                },
              ),
      ),
  };
}

const parsedBodyHint =
  'Pass the request to the fetch() of toWorker() before anything reads its body.';
