import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isOfForeignPage } from '../../runtime/foreign-page.js';
import type { Headers, Received } from './messages.js';

/** A server that waits for one delivery over HTTP. */
export interface Listening {
  readonly url: string;
  /** Resolves with the delivery; `undefined` if none arrived in time, or if the server was closed before. */
  readonly received: Promise<Received | undefined>;
  close(): void;
}

const MOST = 10 * 1024 * 1024;

/** The answer to a delivery: no handler has run, so the provider has to send it again. */
const TAKEN = '{"message":"Received by storefront-webhooks doctor. No handler has run."}';

/** Receives one POST on loopback, and always answers 503 with the same message, which reveals nothing. */
export async function listenOnce(port: number, timeoutMs: number): Promise<Listening> {
  let settle: (received: Received | undefined) => void = () => {};
  const received = new Promise<Received | undefined>((resolve) => {
    settle = resolve;
  });
  const server = createServer((request, response) => {
    void take(request, response).then((one) => {
      if (one !== undefined) settle(one);
    });
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  const timer = setTimeout(() => settle(undefined), timeoutMs);
  const close = () => settle(undefined);
  void received.then(() => {
    clearTimeout(timer);
    server.close();
    // Leaves time to send the answer.
    setTimeout(() => server.closeAllConnections(), 500).unref();
    server.closeIdleConnections();
  });
  return { url: `http://127.0.0.1:${bound}/`, received, close };
}

async function take(
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Received | undefined> {
  if (request.method !== 'POST') {
    answer(response, 405);
    return undefined;
  }
  if (isOfForeignPage(request.headers)) {
    answer(response, 403);
    return undefined;
  }
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of request) {
      bytes += piece.length;
      if (bytes > MOST) {
        answer(response, 413);
        return undefined;
      }
      pieces.push(piece);
    }
  } catch {
    // The sender hung up: report what has arrived, and the declared length.
  }
  answer(response, 503, TAKEN);
  const headers = headersOf(request.rawHeaders);
  return { body: Buffer.concat(pieces), signature: signatureOf(headers), headers };
}

function answer(response: ServerResponse, status: number, body = '{}'): void {
  const length = Buffer.byteLength(body);
  const head = {
    'content-type': 'application/json',
    'content-length': length,
    connection: 'close',
  };
  response.writeHead(status, head).end(body);
}

function headersOf(raw: readonly string[]): Headers {
  return Array.from({ length: raw.length / 2 }, (_, index): [string, string] => [
    raw[2 * index] ?? '',
    raw[2 * index + 1] ?? '',
  ]);
}

/** Returns the signature header, whatever its prefix. Several such headers are joined. */
export function signatureOf(headers: Headers): string {
  return headers
    .filter(([name]) => /(?:^|-)signature$/i.test(name))
    .map(([, value]) => value)
    .join(', ');
}
