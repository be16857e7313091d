import {
  createServer,
  type IncomingMessage,
  request as requestPlain,
  type Server,
  type ServerResponse,
} from 'node:http';
import { request as requestTls } from 'node:https';
import { isOfForeignPage, isOnLoopback } from '../../runtime/foreign-page.js';

type Headers = readonly (readonly [name: string, value: string])[];

/** A request as it arrived: headers keep their order and case, and repeated ones are kept. */
export interface Arrived {
  readonly time: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** The trailers after the body, which only a chunked request can have. */
  readonly trailers: [name: string, value: string][];
}

/** The answer of the target. */
export interface Answered {
  /** 0 if there was no complete answer. */
  readonly status: number;
  /** The beginning of the body. */
  readonly body: string;
  readonly ms: number;
  /** Why there was no complete answer. */
  readonly error?: string;
}

/** The options of {@link createProxy}. */
export interface ProxyOptions {
  readonly target: URL;
  /** The largest body, in bytes. */
  readonly limit: number;
  /** How long to wait for an answer, in milliseconds. */
  readonly timeout: number;
  /** Called with each request when it has arrived completely. The returned function is called with its answer. */
  readonly onArrived: (arrived: Arrived) => (answered: Answered) => void;
  /** Called with the reason if a request is not passed on. */
  readonly onRefused: (why: string) => void;
}

/** How much of an answer is kept. That is enough to find its outcome. */
const KEPT_BYTES = 64 * 1024;

const INTERRUPTED = new Error('record was interrupted before its answer was complete');

/** Headers of the connection, which are not passed on (RFC 9110, section 7.6.1). */
const HOP = /^(connection|keep-alive|proxy-connection|te|upgrade|expect)$/i;
/** Headers that `Connection` must not remove (same section). Without them, a body would be read as a new request. */
const OF_MESSAGE = ['host', 'content-length', 'transfer-encoding', 'trailer'];

/** A server that passes requests on. */
export interface Proxy {
  readonly server: Server;
  /** Ends the server. Pending answers of the target may take two more seconds. Resolves when each was reported. */
  close(): Promise<void>;
}

/** Creates a server that passes requests on to the target unchanged, and passes the answers back. */
export function createProxy(options: ProxyOptions): Proxy {
  let isReported = false;
  const pending = new Map<Promise<void>, AbortController>();
  const server = createServer((incoming, outgoing) => {
    if (!isDelivery(incoming)) {
      if (!isReported)
        options.onRefused(
          'A request from a web page was rejected: web pages do not send deliveries.',
        );
      isReported = true;
      refuse(outgoing, 403, 'This server does not accept requests from other web pages.');
      return;
    }
    const stop = new AbortController();
    const passed = pass(incoming, outgoing, options, stop.signal)
      .catch(() => void outgoing.destroy())
      .finally(() => pending.delete(passed));
    pending.set(passed, stop);
  });
  return {
    server,
    async close() {
      const late = setTimeout(() => {
        for (const stop of pending.values()) stop.abort(INTERRUPTED);
        server.closeAllConnections();
      }, 2000);
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeIdleConnections();
      });
      // If its sender has hung up, a request to the target may outlive the server.
      await Promise.all(pending.keys());
      clearTimeout(late);
    },
  };
}

async function pass(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  options: ProxyOptions,
  stopped: AbortSignal,
): Promise<void> {
  const time = new Date().toISOString();
  const body = await readBody(incoming, options.limit);
  if (body === undefined) {
    options.onRefused(`A body of more than ${options.limit} bytes was rejected: raise --limit.`);
    return refuse(outgoing, 413, 'The body is larger than --limit.');
  }
  const { method = 'POST', url: path = '/' } = incoming;
  const headers = inPairs(incoming.rawHeaders);
  const arrived = { time, method, path, headers, body, trailers: inPairs(incoming.rawTrailers) };
  const answer = options.onArrived(arrived);
  const startedAt = performance.now();
  const told = await forward(arrived, outgoing, options, stopped).catch(
    (error: NodeJS.ErrnoException) => ({
      status: 0,
      body: '',
      // If a host name has several addresses, the error has a code but no message.
      error: error.message || error.code || 'it failed',
    }),
  );
  answer({ ...told, ms: Math.round((performance.now() - startedAt) * 10) / 10 });
  if (told.status > 0) return;
  // Break the connection, so that a partial answer does not look complete.
  if (outgoing.headersSent) outgoing.destroy();
  else refuse(outgoing, 502, 'The target could not be reached, or did not answer.');
}

/**
 * Whether a request may be a delivery. Rejects requests from foreign web pages. Also rejects reads under a foreign
 * host name, because a page may have pointed its own name at this machine, and browsers send no origin then. A
 * tunnel has a foreign host name, too, but sends POST.
 */
function isDelivery({ method, headers }: IncomingMessage): boolean {
  const reads = method === 'GET' || method === 'HEAD';
  return !isOfForeignPage(headers) && !(reads && !isOnLoopback(`http://${headers.host}`));
}

/** Reads the whole body; `undefined` if it is larger than the limit. */
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
  stopped: AbortSignal,
): Promise<Omit<Answered, 'ms'>> {
  const start = target.protocol === 'https:' ? requestTls : requestPlain;
  const late = AbortSignal.timeout(timeout);
  return new Promise((resolve, reject) => {
    stopped.throwIfAborted();
    const request = start({
      ...{ protocol: target.protocol, port: target.port, method, path, agent: false },
      hostname: target.hostname.replace(/^\[|\]$/g, ''),
      headers: toTarget(headers, target.host).flat(),
    });
    // Reject first: once the answer has begun, the request would report only that the connection was closed.
    const giveUp = (why: Error) => {
      reject(why);
      request.destroy(why);
    };
    late.addEventListener('abort', () => {
      giveUp(new Error(`there was no answer within ${timeout} ms`));
    });
    stopped.addEventListener('abort', () => giveUp(stopped.reason));
    const brokeOff = () =>
      reject(new Error('it closed the connection before its answer was complete'));
    request.on('error', reject).on('close', brokeOff);
    request.on('response', (response) => {
      // From here on, the end of the response decides.
      request.off('close', brokeOff);
      const kept: Buffer[] = [];
      let size = 0;
      response.on('data', (piece: Buffer) => {
        if (size < KEPT_BYTES) kept.push(piece);
        size += piece.length;
      });
      const { statusCode: status = 0, statusMessage } = response;
      // Pass on the headers of the target only.
      outgoing.sendDate = false;
      outgoing.writeHead(status, statusMessage, endToEnd(inPairs(response.rawHeaders)).flat());
      // The sender may have hung up, or do so: the target's answer is still read to its end, and recorded.
      const readOn = () => response.unpipe(outgoing).resume();
      if (outgoing.destroyed) response.resume();
      else response.pipe(outgoing.once('close', readOn), { end: false });
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

/** Returns the headers for the target: without the connection's headers, and with the target's host. */
function toTarget(headers: Headers, host: string): Headers {
  const passed = endToEnd(headers).map(
    ([name, value]) => [name, /^host$/i.test(name) ? host : value] as const,
  );
  return passed.some(([name]) => /^host$/i.test(name)) ? passed : [['Host', host], ...passed];
}

/** Removes the headers of the connection. The framing stays, so a chunked body is passed on in chunks. */
function endToEnd(headers: Headers): Headers {
  const named = headers
    .filter(([name]) => /^connection$/i.test(name))
    .flatMap(([, value]) => value.toLowerCase().split(/\s*,\s*/))
    .filter((name) => !OF_MESSAGE.includes(name.trim()));
  const isInChunks = headers.some(([name]) => /^transfer-encoding$/i.test(name));
  return headers.filter(([name]) => {
    // Only a chunked message can have trailers, and Node rejects the header otherwise.
    if (/^trailer$/i.test(name)) return isInChunks;
    return !HOP.test(name) && !named.includes(name.toLowerCase());
  });
}

/** Returns the headers to save. A replay has another connection, and maybe a body of another length. */
export function toSavedHeaders(headers: Headers): Headers {
  return endToEnd(headers).filter(
    ([name]) => !/^(host|content-length|transfer-encoding|trailer)$/i.test(name),
  );
}

function inPairs(raw: readonly string[]): [name: string, value: string][] {
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? '']] : []));
}
