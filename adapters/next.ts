import { type Receive, type ReceiverSource, toReceive } from '../src/process/receiver-source.js';
import { StoppingHost } from './shared/late-work.js';
import { respond } from './shared/web-response.js';

/**
 * Makes a route handler for the App Router of Next.js, on the Node and the edge runtime.
 *
 * @param receiver - A function that creates the receiver at the first request, because a build has no
 *   secrets; or a receiver.
 * @throws {UsageError} `receiver_invalid` if `receiver` is anything else.
 *
 * @example
 * // app/webhooks/route.ts
 * export const POST = toNext(() => createReceiver({ secret: process.env.WEBHOOK_SECRET }));
 */
export function toNext(receiver: ReceiverSource): (request: Request) => Promise<Response> {
  const receive = toReceive(receiver);
  const host = new StoppingHost();
  const receiveAll: Receive = async (asked) => {
    await host.begin();
    const received = await receive(asked);
    const { recorded } = received;
    return !recorded || (await goesOn(recorded)) ? received : host.end(received);
  };
  return (request) => respond(receiveAll, request, parsedBodyHint);
}

/** Hands work over to Next, whose platform then does not stop before the work has ended. Returns whether it has. */
async function goesOn(work: Promise<unknown>): Promise<boolean> {
  try {
    const { after } = await import('next/server.js');
    after?.(work);
    return after !== undefined;
  } catch {
    // Outside of Next, as in a test of the route.
    return false;
  }
}

const parsedBodyHint =
  'Export the handler itself, export const POST = toNext(receiver), or call it before request.json() and ' +
  'request.text().';
