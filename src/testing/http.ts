import { request as startRequest } from 'node:http';
import { request as startTlsRequest } from 'node:https';
import { WebhookError } from '../errors/errors.js';
import { isUntrusted } from '../runtime/certificates.js';
import type { OutgoingRequest } from './prepare.js';
import { ResponseBody, type TargetResponse } from './response.js';
import { nextTurn } from './timers.js';

/** Returns an address for messages: without a query or a password, which may be secrets. */
export function nameUrl({ origin, pathname }: URL): string {
  return origin + pathname;
}

/**
 * Sends one request over HTTP. Headers are sent as they are, including repeated ones.
 *
 * @param signal - Aborts the request. The call then rejects with the signal's reason.
 * @throws {WebhookError} `response_invalid` if there is no complete answer.
 */
export function sendOverHttp(
  url: URL,
  request: OutgoingRequest,
  signal: AbortSignal,
): Promise<TargetResponse> {
  const { method, headers, body, chunks } = request;
  const start = url.protocol === 'https:' ? startTlsRequest : startRequest;
  const sized = headers.some(([name]) => /^(content-length|transfer-encoding)$/i.test(name));
  return new Promise((resolve, reject) => {
    const outgoing = start(url, {
      method,
      agent: false,
      headers: [
        ['Host', url.host],
        ['Connection', 'close'],
        ...(sized ? [] : [['Content-Length', String(body.length)]]),
        ...headers,
      ].flat(),
    });
    const fail = (error: unknown) => {
      reject(error);
      outgoing.destroy();
    };
    const failWith = (fault: string, cause?: Error) =>
      fail(new WebhookError('response_invalid', `${nameUrl(url)} ${fault}.`, { cause }));
    const brokeOff = (cause?: Error) =>
      failWith('closed the connection before its answer was complete. Check its logs', cause);

    signal.addEventListener('abort', () => fail(signal.reason), { once: true });
    outgoing
      .on('error', (cause: NodeJS.ErrnoException) => {
        // If a name has several addresses, the error has a code and no message.
        const reason = cause.message || cause.code;
        const advice = isUntrusted(reason ?? '')
          ? 'Check its certificate'
          : 'Check that its server is running, and check its logs';
        failWith(`did not answer: ${reason}. ${advice}`, cause);
      })
      // Closed without an answer. Once there is an answer, only the end of its body counts.
      .on('close', () => brokeOff())
      // Since Node 26, the request does not destroy the socket of these two.
      .on('upgrade', (_, socket) => {
        socket.destroy();
        failWith('changed to another protocol. Remove the Upgrade header from the fixture');
      })
      .on('connect', (_, socket) => {
        socket.destroy();
        failWith('opened a tunnel. Give the fixture a method other than CONNECT');
      })
      .on('response', (response) => {
        const body = new ResponseBody(nameUrl(url));
        outgoing.removeAllListeners('close');
        response.on('data', (piece: Buffer) => {
          try {
            body.add(piece);
          } catch (error) {
            fail(error);
          }
        });
        response.on('end', () => {
          resolve({
            status: response.statusCode ?? 0,
            headers: flatten(response.headers),
            body: body.whole(),
          });
        });
        response.on('error', brokeOff).on('close', () => brokeOff());
      });
    void writeBody(outgoing, body, chunks).catch(fail);
  });
}

async function writeBody(
  outgoing: ReturnType<typeof startRequest>,
  body: Uint8Array,
  chunks: number,
): Promise<void> {
  const size = Math.max(1, Math.ceil(body.length / chunks));
  for (let start = 0; start < body.length && !outgoing.destroyed; start += size) {
    outgoing.write(body.subarray(start, start + size));
    // Wait a turn of the event loop between two pieces, so that they are not sent as one.
    if (chunks > 1) await nextTurn();
  }
  outgoing.end();
}

function flatten(headers: Readonly<Record<string, string | string[] | undefined>>) {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
  );
}
