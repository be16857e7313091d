import { type ClientRequest, request as startRequest } from 'node:http';
import { request as startTlsRequest } from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';

/** A request to send, and the faults to send it with. */
export interface Outgoing {
  /** The headers, sent in this order and case. A name may occur twice. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  /** How many pieces to send the body in. Default 1. */
  readonly pieces?: number;
  /** Milliseconds between two pieces. Default: a turn of the event loop. */
  readonly pauseMs?: number;
  /** Called when all but the last byte is sent. The last byte waits until this settles. Default: it does not wait. */
  readonly hold?: () => Promise<unknown>;
  /** Uses chunks in place of a declared length. Default false. */
  readonly chunked?: boolean;
  /** Closes the connection when all is sent, without waiting for an answer. Default false. */
  readonly hangUp?: boolean;
  /** Declares more bytes than it sends, and never ends the request. Default false. */
  readonly unended?: boolean;
}

/** The answer to a request. */
export interface Answer {
  /** 0 if there was no answer. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** Milliseconds since the end of the request. */
  readonly ms: number;
  /** Why there was no answer. */
  readonly error?: string;
}

const MAX_ANSWER = 1024 * 1024;

/**
 * Sends one request. A failure is an answer, too, with status 0.
 *
 * @param timeoutMs - How long to wait for the answer after the last byte. A sender that is slow itself, because its
 *   machine is busy or it pauses on purpose, does not use up this time.
 */
export async function sendRequest(
  url: URL,
  outgoing: Outgoing,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Answer> {
  const { headers, body, chunked = false, unended = false } = outgoing;
  const start = url.protocol === 'https:' ? startTlsRequest : startRequest;
  const length = unended ? body.length + 1000 : body.length;
  let sentAt = performance.now();
  const none = (error: string): Answer => ({
    status: 0,
    headers: {},
    body: '',
    ms: since(sentAt),
    error,
  });
  if (signal.aborted) return none('The time for the check was up.');
  return new Promise((resolve) => {
    const request = start(url, {
      method: 'POST',
      agent: false,
      headers: [
        ['Host', url.host],
        ['Connection', 'close'],
        chunked ? ['Transfer-Encoding', 'chunked'] : ['Content-Length', String(length)],
        ...headers,
      ].flat(),
    });
    const finish = (answer: Answer) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      resolve(answer);
      request.destroy();
    };
    const abort = () => finish(none('The time for the check was up.'));
    const late = () => finish(none(`There was no answer within ${timeoutMs / 1000} s.`));
    // After a stall of this process, an answer may have arrived that the event loop has yet to read.
    const timer = setTimeout(() => setImmediate(late), timeoutMs);
    const progress = () => {
      if (!request.destroyed) timer.refresh();
    };
    signal.addEventListener('abort', abort, { once: true });
    request.on('error', (error: NodeJS.ErrnoException) =>
      finish(none(`There was no answer: ${error.code ?? error.message}.`)),
    );
    const closed = () => finish(none('The connection was closed without an answer.'));
    request.on('close', closed);
    request.on('response', (response) => {
      request.off('close', closed);
      const pieces: Buffer[] = [];
      let size = 0;
      response.on('data', (piece: Buffer) => {
        size += piece.length;
        if (size <= MAX_ANSWER) pieces.push(piece);
      });
      const end = () =>
        finish({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(pieces).toString('utf8'),
          ms: since(sentAt),
        });
      response.on('end', end).on('error', end).on('close', end);
    });
    void write(request, outgoing, progress)
      .then(() => {
        progress();
        sentAt = performance.now();
        if (outgoing.hangUp) finish(none('The sender hung up on purpose.'));
      })
      .catch(() => {});
  });
}

async function write(
  request: ClientRequest,
  outgoing: Outgoing,
  progress: () => void,
): Promise<void> {
  const { pieces = 1, pauseMs = 0, unended = false, hold } = outgoing;
  const body = hold ? outgoing.body.subarray(0, -1) : outgoing.body;
  const size = Math.max(1, Math.ceil(body.length / pieces));
  let left = Promise.resolve();
  for (let at = 0; at < body.length && !request.destroyed; at += size) {
    if (at > 0) await wait(pauseMs);
    left = new Promise((resolve) => request.write(body.subarray(at, at + size), () => resolve()));
    progress();
  }
  if (unended) return;
  if (hold) {
    await left;
    await hold();
    request.write(outgoing.body.subarray(-1));
  }
  await new Promise<void>((resolve) => {
    // The server may close the connection before all is sent.
    request.once('close', resolve);
    request.end(resolve);
  });
}

function since(start: number): number {
  return Math.round(performance.now() - start);
}
