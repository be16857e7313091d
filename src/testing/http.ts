import { request as startRequest } from 'node:http';
import { request as startTlsRequest } from 'node:https';
import { WebhookError } from '../errors.js';
import type { OutgoingRequest } from './prepare.js';
import { ResponseBody, type TargetResponse } from './response.js';

/** An address as messages show it: without a query or a password, which may be secrets. */
export function nameUrl({ origin, pathname }: URL): string {
  return origin + pathname;
}

/**
 * Sends one request over HTTP. Headers go out as they are, also twice.
 *
 * @param signal - Ends it when it fires, and rejects with its reason.
 * @throws {WebhookError} `response_invalid` where there is no whole answer.
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
      failWith('closed the connection before its answer was whole. Look at what it logs', cause);

    signal.addEventListener('abort', () => fail(signal.reason), { once: true });
    outgoing
      .on('error', (cause: NodeJS.ErrnoException) => {
        // Where a name has several addresses, the error has a code and no message.
        const reason = cause.message || cause.code;
        failWith(
          `did not answer: ${reason}. Look whether its server runs, and what it logs`,
          cause,
        );
      })
      // Without an answer: where there is one, what counts is the end of its body.
      .on('close', () => brokeOff())
      // From Node 26 on, the socket of these two is not destroyed with the request.
      .on('upgrade', (_, socket) => {
        socket.destroy();
        failWith('changed to another protocol. Take the Upgrade header out of the fixture');
      })
      .on('connect', (_, socket) => {
        socket.destroy();
        failWith('opened a tunnel. Give the fixture another method than CONNECT');
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
    // A turn of the event loop between two pieces, so that they do not leave as one.
    if (chunks > 1) await new Promise((resolve) => setImmediate(resolve));
  }
  outgoing.end();
}

function flatten(headers: Readonly<Record<string, string | string[] | undefined>>) {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
  );
}
