import type { Receive } from '../../src/process/receiver-source.js';
import { toUtf8 } from '../../src/runtime/bytes.js';
import type { WaitUntil } from './late-work.js';
import { readRequest } from './web-request.js';

/**
 * Responds to one Fetch request.
 *
 * @param waitUntil - Keeps the platform running until the promise settles: some platforms end after the response. If
 *   it returns a promise, the response waits for that. Default: the process goes on.
 */
export function respond(
  receive: Receive,
  request: Request,
  parsedBodyHint: string,
  waitUntil: WaitUntil = () => {},
): Promise<Response> {
  const respondOnce = async () => {
    const received = await receive(readRequest(request, parsedBodyHint));
    if (received.recorded) await waitUntil(received.recorded);
    const { body } = received;
    const bytes = typeof body === 'string' ? toUtf8(body) : Uint8Array.from(body);
    return new Response(bytes, {
      status: received.status,
      headers: { ...received.headers, 'content-length': String(bytes.length) },
    });
  };
  const responding = respondOnce();
  // A handler that has started finishes, even if the sender has disconnected.
  waitUntil(responding);
  return responding;
}
