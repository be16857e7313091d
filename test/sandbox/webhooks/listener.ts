import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';

/**
 * The reaction to a request: an answer, a closed connection, another protocol, no answer, or an answer that never
 * ends.
 */
export type Answer =
  | number
  | { status: number; body?: string | Buffer; headers?: Record<string, string | string[]> }
  | 'reset'
  | 'upgrade'
  | 'hang'
  | 'endless';

/** A request as it arrived. */
export interface Came {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** As the sender wrote them. */
  readonly headerNames: readonly string[];
  readonly body: Buffer;
  readonly json: Record<string, unknown>;
  readonly event: unknown;
  readonly id: unknown;
}

export interface Listener {
  /** The address of `/webhooks`. The server answers any other path as well. */
  readonly url: string;
  readonly origin: string;
  readonly port: number;
  readonly came: Came[];
  /** The events of the requests, in the order of arrival. */
  events(): unknown[];
  /** Sets the answer to all further requests. */
  answer(answer: Answer | ((came: Came, number: number) => Answer | Promise<Answer>)): void;
  close(): Promise<void>;
}

/** A server that records its requests, and answers 200 by default. */
export async function startListener(host = '127.0.0.1'): Promise<Listener> {
  const came: Came[] = [];
  let answer: (came: Came, number: number) => Answer | Promise<Answer> = () => 200;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const one: Came = {
      method: request.method,
      path: request.url,
      headers: request.headers,
      headerNames: request.rawHeaders.filter((_, at) => at % 2 === 0),
      body,
      json: JSON.parse(body.toString() || '{}'),
      event: request.headers['x-service-event'],
      id: request.headers['x-service-webhook'],
    };
    came.push(one);
    const given = await answer(one, came.length);
    if (given === 'hang') return;
    if (given === 'reset') {
      request.socket.destroy();
      return;
    }
    if (given === 'upgrade') {
      request.socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
      );
      return;
    }
    if (given === 'endless') {
      const piece = Buffer.alloc(64 * 1024, 'a');
      const closed = once(response, 'close');
      while (!response.destroyed) {
        if (!response.write(piece)) await Promise.race([once(response, 'drain'), closed]);
      }
      return;
    }
    const {
      status,
      headers = {},
      body: text = '',
    } = typeof given === 'number' ? { status: given } : given;
    response.writeHead(status, headers).end(text);
  });
  server.listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const origin = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return {
    url: `${origin}/webhooks`,
    origin,
    port,
    came,
    events: () => came.map(({ event }) => event),
    answer(given) {
      answer = typeof given === 'function' ? given : () => given;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
