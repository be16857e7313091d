import {
  createServer,
  type IncomingMessage,
  request as requestPlain,
  type Server,
  type ServerResponse,
} from 'node:http';
import { request as requestTls } from 'node:https';

type Headers = readonly (readonly [name: string, value: string])[];

/** A request as it came: its headers in their order, in their case, and also twice. */
export interface Arrived {
  readonly time: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** What came after the body, in chunks only. */
  readonly trailers: [name: string, value: string][];
}

/** What the target answered. */
export interface Answered {
  /** 0 where there was no whole answer. */
  readonly status: number;
  /** Its beginning. */
  readonly body: string;
  readonly ms: number;
  /** Why there was none. */
  readonly error?: string;
}

/** How {@link createProxy} passes on. */
export interface ProxyOptions {
  readonly target: URL;
  /** The largest body, in bytes. */
  readonly limit: number;
  /** How long an answer may take, in milliseconds. */
  readonly timeout: number;
  /** Told of each request when it has come whole, and then of its answer. */
  readonly onArrived: (arrived: Arrived) => (answered: Answered) => void;
  /** Told of what was not passed on. */
  readonly onRefused: (why: string) => void;
}

/** Kept of an answer: what says its outcome. */
const KEPT_BYTES = 64 * 1024;

/** What belongs to one connection and not to the delivery (RFC 9110, section 7.6.1). */
const HOP = /^(connection|keep-alive|proxy-connection|te|upgrade|expect)$/i;

/** A server that passes on what it is sent, unchanged, and the answer back. */
export function createProxy(options: ProxyOptions): Server {
  return createServer((incoming, outgoing) => {
    pass(incoming, outgoing, options).catch(() => outgoing.destroy());
  });
}

async function pass(incoming: IncomingMessage, outgoing: ServerResponse, options: ProxyOptions) {
  const time = new Date().toISOString();
  const body = await readBody(incoming, options.limit);
  if (body === undefined) {
    options.onRefused(`A body of more than ${options.limit} bytes was refused: raise --limit.`);
    return refuse(outgoing, 413, 'The body is larger than --limit.');
  }
  const { method = 'POST', url: path = '/' } = incoming;
  const headers = inPairs(incoming.rawHeaders);
  const arrived = { time, method, path, headers, body, trailers: inPairs(incoming.rawTrailers) };
  const answer = options.onArrived(arrived);
  const startedAt = performance.now();
  const told = await forward(arrived, outgoing, options).catch((error: NodeJS.ErrnoException) => ({
    status: 0,
    body: '',
    // Where a name has several addresses, the error has a code and no message.
    error: error.message || error.code || 'it failed',
  }));
  answer({ ...told, ms: Math.round((performance.now() - startedAt) * 10) / 10 });
  if (told.status > 0) return;
  // Part of an answer is no answer.
  if (outgoing.headersSent) outgoing.destroy();
  else refuse(outgoing, 502, 'The target could not be reached, or did not answer.');
}

/** The whole body; `undefined` where it is larger than the limit. */
async function readBody(incoming: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of incoming) {
    size += piece.length;
    if (size > limit) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function refuse(outgoing: ServerResponse, status: number, message: string): void {
  outgoing.writeHead(status, { 'Content-Type': 'application/json', Connection: 'close' });
  outgoing.end(JSON.stringify({ message }));
}

function forward(
  { method, path, headers, body, trailers }: Arrived,
  outgoing: ServerResponse,
  { target, timeout }: ProxyOptions,
): Promise<Omit<Answered, 'ms'>> {
  const start = target.protocol === 'https:' ? requestTls : requestPlain;
  const late = AbortSignal.timeout(timeout);
  return new Promise((resolve, reject) => {
    const request = start({
      ...{ protocol: target.protocol, port: target.port, method, path, agent: false },
      hostname: target.hostname.replace(/^\[|\]$/g, ''),
      headers: toTarget(headers, target.host).flat(),
    });
    late.addEventListener('abort', () => {
      request.destroy(new Error(`there was no answer within ${timeout} ms`));
    });
    const brokeOff = () =>
      reject(new Error('it closed the connection before its answer was whole'));
    request.on('error', reject).on('close', brokeOff);
    request.on('response', (response) => {
      // From here on, what counts is the end of the answer.
      request.off('close', brokeOff);
      const kept: Buffer[] = [];
      let size = 0;
      response.on('data', (piece: Buffer) => {
        if (size < KEPT_BYTES) kept.push(piece);
        size += piece.length;
      });
      const { statusCode: status = 0, statusMessage } = response;
      // As it came: nothing of this server's own.
      outgoing.sendDate = false;
      outgoing.writeHead(status, statusMessage, endToEnd(inPairs(response.rawHeaders)).flat());
      response.pipe(outgoing, { end: false });
      response.on('end', () => {
        resolve({ status, body: Buffer.concat(kept).toString('utf8') });
        outgoing.addTrailers(inPairs(response.rawTrailers));
        outgoing.end();
      });
      response.on('error', brokeOff).on('close', brokeOff);
    });
    request.addTrailers(trailers);
    request.end(body);
  });
}

/** As they came, but for the connection's own and the host, which is the target's. */
function toTarget(headers: Headers, host: string): Headers {
  const passed = endToEnd(headers).map(
    ([name, value]) => [name, /^host$/i.test(name) ? host : value] as const,
  );
  return passed.some(([name]) => /^host$/i.test(name)) ? passed : [['Host', host], ...passed];
}

/** Without what is of one connection. How the body is framed stays: what came in chunks leaves in chunks. */
function endToEnd(headers: Headers): Headers {
  const named = headers
    .filter(([name]) => /^connection$/i.test(name))
    .flatMap(([, value]) => value.toLowerCase().split(/\s*,\s*/));
  const isInChunks = headers.some(([name]) => /^transfer-encoding$/i.test(name));
  return headers.filter(([name]) => {
    // Without chunks there is no place for one, and Node does not send what announces it.
    if (/^trailer$/i.test(name)) return isInChunks;
    return !HOP.test(name) && !named.includes(name.toLowerCase());
  });
}

/** Those of the delivery itself, to be sent again on another connection with a body of another length. */
export function toSavedHeaders(headers: Headers): Headers {
  return endToEnd(headers).filter(
    ([name]) => !/^(host|content-length|transfer-encoding|trailer)$/i.test(name),
  );
}

function inPairs(raw: readonly string[]): [name: string, value: string][] {
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? '']] : []));
}
