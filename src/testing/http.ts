import { request as startRequest } from 'node:http';
import { request as startTlsRequest } from 'node:https';
import type { OutgoingRequest } from './prepare.js';

/** An answer as it came in. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Names of the handlers that ran; known only where the target is a receiver. */
  readonly ran?: readonly string[] | undefined;
}

/** Sends one request over HTTP. Headers go out as they are, also twice. */
export function sendOverHttp(url: URL, request: OutgoingRequest): Promise<Answer> {
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
    outgoing.on('error', reject).on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        text += piece;
      });
      response.on('error', reject).on('end', () => {
        resolve({
          status: response.statusCode ?? 0,
          headers: flatten(response.headers),
          body: text,
        });
      });
    });
    void writeBody(outgoing, body, chunks).catch(reject);
  });
}

async function writeBody(
  outgoing: ReturnType<typeof startRequest>,
  body: Uint8Array,
  chunks: number,
): Promise<void> {
  const size = Math.max(1, Math.ceil(body.length / chunks));
  for (let start = 0; start < body.length; start += size) {
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
