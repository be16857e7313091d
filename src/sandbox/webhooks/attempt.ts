import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { DestinationRefused, type Destinations } from './destinations.js';

/** What is posted. */
export interface Message {
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/** What became of one attempt. */
export type Result =
  | {
      readonly kind: 'answered';
      readonly code: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly text: string;
      /** Whether there was nothing more of it than is read. */
      readonly isWhole: boolean;
    }
  /** There was no answer, or it was lost. */
  | { readonly kind: 'unanswered'; readonly reason: string }
  /** It may not be sent to there, and was not. */
  | { readonly kind: 'refused'; readonly reason: string };

/** The longest body of an answer that is read: as much as goods may have. */
const MAX_ANSWER_BYTES = 1024 * 1024;

interface Limits {
  readonly destinations: Destinations;
  /** The longest an attempt may take, from its connection to the end of the answer. */
  readonly timeoutMs: number;
  /** Ends it before. */
  readonly stopped: AbortSignal;
}

/**
 * Posts a message once. Redirects are not followed: they would lead to where nobody has checked. Each attempt has a
 * connection of its own, so that none of them fails by what another has left behind.
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
    sent.on('response', resolve).on('error', reject).end(body);
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
  // Where several addresses were tried, there is no message.
  return error.message || ('code' in error ? `${error.code}` : 'the connection failed');
}
