import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A load balancer in front of several receivers. It keeps half of its connections to them open. */
export interface Front {
  readonly port: number;
  /** The ports of the receivers by their places. The port of a dead one stays until it is replaced. */
  readonly places: number[];
  /** Requests whose connection ended after they were sent, so that their outcome is unknown. */
  readonly resets: number;
  /** Refused connections, after which the next receiver was tried. */
  readonly refused: number;
  close(): Promise<void>;
}

const HEADERS = ['content-type', 'x-service-event', 'x-service-webhook', 'x-service-signature'];
/** The balancer's own answers: no receiver accepted the connection, or it broke. */
const BAD_GATEWAY = 502;

export async function startFront(): Promise<Front> {
  // Every other request has its own connection, as from a sender without keep-alive.
  const agents = [true, false].map((keepAlive) => new Agent({ keepAlive, maxSockets: 512 }));
  const places: number[] = [];
  let turn = 0;
  let resets = 0;
  let refused = 0;

  const server = createServer(async (incoming, response) => {
    const body = await bodyOf(incoming);
    const first = turn++;
    const fail = () => response.writeHead(BAD_GATEWAY).end();
    const forward = (tried: number) => {
      const port = places[(first + tried) % places.length];
      if (port === undefined || tried >= places.length) return fail();
      const sent = request({
        host: '127.0.0.1',
        port,
        method: 'POST',
        path: '/',
        agent: agents[first % agents.length],
        headers: { ...headersOf(incoming), 'content-length': body.length },
      });
      let isAnswered = false;
      sent.once('response', (answer) => {
        isAnswered = true;
        pass(answer, response, () => {
          resets += 1;
        });
      });
      sent.once('error', (error: NodeJS.ErrnoException) => {
        if (isAnswered) return response.destroy();
        if (error.code === 'ECONNREFUSED') {
          refused += 1;
          return forward(tried + 1);
        }
        resets += 1;
        console.error(
          `  reset: ${error.code} on ${sent.reusedSocket ? 'a kept' : 'a new'} connection`,
        );
        fail();
      });
      sent.end(body);
    };
    forward(0);
  });
  server.on('clientError', (_, socket) => socket.destroy());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    places,
    get resets() {
      return resets;
    },
    get refused() {
      return refused;
    },
    async close() {
      for (const agent of agents) agent.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  try {
    for await (const piece of incoming) pieces.push(piece as Buffer);
  } catch {
    // The sender has closed the connection.
  }
  return Buffer.concat(pieces);
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(HEADERS.map((name) => [name, `${headers[name] ?? ''}`]));
}

function pass(answer: IncomingMessage, response: ServerResponse, onBroken: () => void): void {
  response.writeHead(answer.statusCode ?? BAD_GATEWAY, {
    'content-type': answer.headers['content-type'] ?? 'text/plain',
  });
  answer.once('error', () => {
    onBroken();
    response.destroy();
  });
  answer.pipe(response);
}
