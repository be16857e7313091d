import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { DestinationRefused, type Destinations } from './destinations.js';

/** The body and the headers of an attempt. */
export interface Message {
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/** The result of one attempt. */
export type Result =
  | {
      readonly kind: 'answered';
      readonly code: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly text: string;
      /** Whether `text` is the whole body. Of a longer body, only the beginning is read. */
      readonly isWhole: boolean;
    }
  /** There was no answer, or a fault lost it. */
  | { readonly kind: 'unanswered'; readonly reason: string }
  /** The destination is not allowed, so nothing was sent. */
  | { readonly kind: 'refused'; readonly reason: string };

/** The most bytes of an answer that are read: the size limit of goods. */
const MAX_ANSWER_BYTES = 1024 * 1024;

interface Limits {
  readonly destinations: Destinations;
  /** The longest an attempt may take, from its connection to the end of the answer. */
  readonly timeoutMs: number;
  /** Ends the attempt early. */
  readonly stopped: AbortSignal;
}

/**
 * Posts a message once. Redirects are not followed, because their destinations are not checked. Each attempt
 * opens its own connection, so that no attempt fails because of the state that another has left.
 */
export async function attempt(url: string, message: Message, limits: Limits): Promise<Result> {
  const { timeoutMs, stopped } = limits;
  const ending = new AbortController();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    ending.abort();
  }, timeoutMs);
  const stop = () => ending.abort();
  if (stopped.aborted) stop();
  stopped.addEventListener('abort', stop);
  try {
    return await post(url, message, limits.destinations, ending.signal);
  } catch (error) {
    if (error instanceof DestinationRefused) {
      return { kind: 'refused', reason: `Not sent: ${error.message}.` };
    }
    const reason = isLate ? `not within ${timeoutMs} ms` : reasonOf(error);
    return { kind: 'unanswered', reason: `No answer: ${reason}.` };
  } finally {
    clearTimeout(timer);
    stopped.removeEventListener('abort', stop);
  }
}

async function post(
  text: string,
  { body, headers }: Message,
  destinations: Destinations,
  signal: AbortSignal,
): Promise<Result> {
  const url = destinations.check(text);
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  const { lookup } = destinations;
  const sent = request(url, { method: 'POST', headers, agent: false, lookup, signal });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.on('response', resolve).on('error', reject);
    // Node closes the connection without an error if the answer switches to another protocol.
    sent.on('close', () => reject(new Error('the connection closed before an answer'))).end(body);
  });
  const chunks: Buffer[] = [];
  let room = MAX_ANSWER_BYTES;
  for await (const chunk of response) {
    chunks.push(chunk.subarray(0, room));
    room -= chunk.length;
    if (room < 0) break;
  }
  return {
    kind: 'answered',
    code: response.statusCode ?? 0,
    headers: Object.fromEntries(
      Object.entries(response.headers).map(([name, value]) => [name, [value].flat().join(', ')]),
    ),
    text: Buffer.concat(chunks).toString(),
    isWhole: room >= 0,
  };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the connection failed';
  // If several addresses were tried, the error has no message.
  return error.message || ('code' in error ? `${error.code}` : 'the connection failed');
}
