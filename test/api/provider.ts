import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A request as the provider received it. */
export interface Received {
  readonly method: string | undefined;
  /** The path and the query. */
  readonly url: string | undefined;
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** The time of arrival, in milliseconds. */
  readonly at: number;
}

export type Reply = (response: ServerResponse, request: Received) => void;

/** A provider whose responses the test sets. */
export interface Provider {
  readonly origin: string;
  readonly received: readonly Received[];
  /** Sets the next responses in order, of which the last one repeats, and forgets the received requests. */
  answers(...replies: Reply[]): void;
  stop(): Promise<void>;
}

export async function startProvider(): Promise<Provider> {
  const received: Received[] = [];
  let replies: Reply[] = [];
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request;
    const at = performance.now();
    const one = { method, url, headers, body: await text(request), at };
    received.push(one);
    const reply = replies[Math.min(received.length, replies.length) - 1];
    reply?.(response, one);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    received,
    answers(...next) {
      received.length = 0;
      replies = next;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Answers JSON; without an argument, no body. */
export function json(status: number, body?: unknown, headers = {}): Reply {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  };
}

/** Closes the connection without a response. */
export const breakOff: Reply = (response) => response.destroy();
