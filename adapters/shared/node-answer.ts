import { Readable } from 'node:stream';
import type { Reply } from '../../src/index.js';
import { endOfTurn } from './end-of-turn.js';
import type { NodeRequest } from './node-request.js';

/** An answer for Node to send. */
export interface NodeAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string | Readable;
}

export async function toAnswer(reply: Reply, request: NodeRequest): Promise<NodeAnswer> {
  await endOfTurn();
  const headers = { ...reply.headers, 'content-length': String(Buffer.byteLength(reply.body)) };
  const answer = { status: reply.status, headers, body: reply.body };
  if (request.complete || request.readableEnded) return answer;
  if ('stream' in request) {
    const { stream } = request;
    stream.once('finish', () => stream.close()).resume();
    return answer;
  }
  return {
    ...answer,
    headers: { ...headers, connection: 'close' },
    body: Readable.from(thenLinger(reply.body, request)),
  };
}

/** Closing a connection while its sender is still sending would reset it, and the answer with it. */
async function* thenLinger(text: string, request: NodeRequest) {
  yield text;
  await discard(request);
}

/** How much of a refused body is read and thrown away, and for how long, so that its sender sees the answer. */
const LINGER_BYTES = 1024 * 1024;
const LINGER_MS = 1000;

function discard(body: Readable): Promise<void> {
  return new Promise((resolve) => {
    let left = LINGER_BYTES;
    const timer = setTimeout(done, LINGER_MS);
    body.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) done();
    });
    body.on('end', done).on('close', done).on('error', done);
    body.resume();

    function done() {
      clearTimeout(timer);
      body.pause();
      resolve();
    }
  });
}
