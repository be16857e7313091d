import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createNodeMiddleware, Webhooks } from '@octokit/webhooks';
import express, { type Request, type Response } from 'express';
import {
  createReceiver,
  type IdempotencyStore,
  memoryStore,
  verifySignature,
} from 'storefront-webhooks';
import { toExpress } from 'storefront-webhooks/express';
import { durableStore } from '../../support/durable.js';

export const SECRET = 'a secret for tests of endpoints';

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

/** The database of an endpoint, which survives a restart. */
export interface Kept {
  readonly store: IdempotencyStore;
  /** The keys that hand-written code remembers. */
  readonly seen: Set<string>;
  /** Waits for a second look at an order whose deliveries come at once. Any other order has no wait. */
  look(orderId: string): Promise<void>;
  /** Hands out a key, which takes a moment. */
  hand(orderId: string): Promise<void>;
}

/** An endpoint on a port, which counts its goods and can be restarted. */
export interface RunningEndpoint {
  readonly url: URL;
  /** Counts the goods of one order. */
  count(orderId: string): number;
  /** Counts all goods. */
  total(): number;
  /** The orders whose deliveries come at once. */
  readonly atOnce: Set<string>;
  /** Restarts as after a crash: connections are cut, and running work is lost. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Serves an endpoint on a database. `GET /goods/<order>` and `GET /goods` count the goods. */
export async function serveEndpoint(make: (kept: Kept) => Handler): Promise<RunningEndpoint> {
  const store = durableStore();
  const seen = new Set<string>();
  const goods: string[] = [];
  const count = (orderId: string) => goods.filter((one) => one === orderId).length;
  const atOnce = new Set<string>();
  const alone = new Map<string, () => void>();
  const look = async (orderId: string) => {
    if (!atOnce.has(orderId)) return;
    alone.get(orderId)?.();
    if (!alone.has(orderId)) await new Promise<void>((resolve) => alone.set(orderId, resolve));
  };
  let life = 0;
  const born = () => {
    const mine = life;
    const hand = async (orderId: string) => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      if (mine === life) goods.push(orderId);
    };
    return make({ store, seen, look, hand });
  };
  let handler = born();
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const [, asked] = /^\/goods\/?(.*)$/.exec(request.url ?? '') ?? [];
    if (asked === undefined) {
      return Promise.resolve(handler(request, response)).catch(() => response.destroy());
    }
    return response.end(String(asked === '' ? goods.length : count(asked)));
  }).on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: new URL(`http://127.0.0.1:${port}/webhooks`),
    count,
    total: () => goods.length,
    atOnce,
    async restart() {
      life++;
      cut();
      handler = born();
    },
    async stop() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Mounts the receiver as the README does. */
export function ours(
  { store, hand }: Kept,
  options: { readonly bodyTimeout?: number } = {},
): Handler {
  const hooks = { onRejected: () => {}, onError: () => {}, onOutcome: () => {} };
  const receiver = createReceiver({ secret: SECRET, store, hooks, ...options }).onPaid(
    ({ payload: order }) => hand(order.id),
  );
  return express().post('/webhooks', toExpress(receiver));
}

/** The same, but a restart loses its memory. */
export function inMemory(kept: Kept): Handler {
  return ours({ ...kept, store: memoryStore() });
}

/**
 * The middleware of octokit, with a typical handler. It expects GitHub's headers, so a proxy in front of it
 * verifies each delivery and signs it again.
 */
export function octokit({ hand }: Kept): Handler {
  const webhooks = new Webhooks({ secret: SECRET, log: silent });
  webhooks.onAny(async (event) => {
    const { id, status } = Object(event.payload);
    if (String(event.name).startsWith('order:') && status === 100) await hand(id);
  });
  const middleware = createNodeMiddleware(webhooks, { path: '/webhooks', log: silent });
  return async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const body = Buffer.concat(pieces);
    const isGenuine = verifySignature(body, `${request.headers['x-service-signature']}`, SECRET);
    const signature = createHmac('sha256', isGenuine ? SECRET : 'another').update(body);
    Object.assign(request.headers, {
      'x-hub-signature-256': `sha256=${signature.digest('hex')}`,
      'x-github-event': request.headers['x-service-event'],
      'x-github-delivery': request.headers['x-service-webhook'],
    });
    // Some servers leave a body that they have read here, and the middleware looks for it.
    Object.assign(request, { body: {}, rawBody: new Uint8Array(body) });
    await middleware(request, response);
  };
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

interface ByHand {
  readonly kept: Kept;
  readonly order: { readonly id: string; readonly status: number };
  readonly event: string;
  readonly response: Response;
}

/** Typical hand-written code: verifies the raw bytes correctly, and then calls the given handler. */
function byHand(act: (delivery: ByHand) => Promise<unknown>): (kept: Kept) => Handler {
  return (kept) =>
    express().post(
      '/webhooks',
      express.raw({ type: () => true, limit: '1mb' }),
      (request, response) => {
        if (!fits(request.body, request.get('x-service-signature')))
          return response.sendStatus(401);
        const order = parse(request.body.toString('utf8'));
        if (order === undefined) return response.sendStatus(400);
        return act({ kept, order, event: request.get('x-service-event') ?? '', response });
      },
    );
}

/** Has no idempotency: each delivery of a paid order hands out a key. */
export const forgetful = byHand(async ({ kept, order, response }) => {
  if (order.status === 100) await kept.hand(order.id);
  response.sendStatus(200);
});

/** Looks first and writes later: deliveries that come at once have all looked before the first one writes. */
export const checkThenAct = byHand(async ({ kept, order, response }) => {
  if (order.status === 100 && !kept.seen.has(order.id)) {
    await kept.look(order.id);
    kept.seen.add(order.id);
    await kept.hand(order.id);
  }
  response.sendStatus(200);
});

/** Remembers the delivery's id, which is not signed. */
export const byDeliveryId = byHand(async ({ kept, order, response }) => {
  const id = `${response.req.get('x-service-webhook')}`;
  if (order.status === 100 && !kept.seen.has(id)) {
    kept.seen.add(id);
    await kept.hand(order.id);
  }
  response.sendStatus(200);
});

/** Answers before the work is done. */
export const answersFirst = byHand(async ({ kept, order, response }) => {
  const isNew = order.status === 100 && !kept.seen.has(order.id);
  if (isNew) kept.seen.add(order.id);
  response.sendStatus(200);
  // The sender reads the answer within two turns, however long a turn takes.
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  if (isNew) await kept.hand(order.id);
});

/** Trusts the event header, which is not signed. */
export const trustsEvent = byHand(async ({ kept, order, event, response }) => {
  if (event === 'order:paid' && !kept.seen.has(order.id)) {
    kept.seen.add(order.id);
    await kept.hand(order.id);
  }
  response.sendStatus(200);
});

/** Crashes on a body that it cannot parse: an uncaught error in an async function. */
export function goesDown({ hand }: Kept): Handler {
  let isDown = false;
  return async (request, response) => {
    if (isDown) return response.destroy();
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const body = Buffer.concat(pieces);
    if (!fits(body, `${request.headers['x-service-signature']}`)) {
      return response.writeHead(401).end();
    }
    const order = parse(body.toString());
    isDown = order === undefined;
    if (order === undefined) return response.destroy();
    if (order.status === 100) await hand(order.id);
    return response.end();
  };
}

/** Verifies the body after parsing it and writing it again. */
export function stringifies(kept: Kept): Handler {
  return express().post(
    '/webhooks',
    express.json(),
    async (request: Request, response: Response) => {
      const body = Buffer.from(JSON.stringify(request.body));
      if (!fits(body, request.get('x-service-signature'))) return response.sendStatus(401);
      const { id, status } = request.body;
      if (status === 100 && !kept.seen.has(id)) {
        kept.seen.add(id);
        await kept.hand(id);
      }
      return response.sendStatus(200);
    },
  );
}

/** Verifies nothing, and throws on a signature of another length. */
export function unguarded(kept: Kept): Handler {
  return express().post(
    '/webhooks',
    express.raw({ type: () => true, limit: '10mb' }),
    async (request, response) => {
      const expected = createHmac('sha512', SECRET).update(request.body).digest();
      const given = Buffer.from(request.get('x-service-signature') ?? '', 'hex');
      timingSafeEqual(expected, given);
      const { id, status } = JSON.parse(request.body.toString('utf8'));
      if (status === 100 && !kept.seen.has(id)) {
        kept.seen.add(id);
        await kept.hand(id);
      }
      return response.sendStatus(200);
    },
  );
}

function fits(body: unknown, signature: string | undefined): boolean {
  if (!Buffer.isBuffer(body)) return false;
  const expected = createHmac('sha512', SECRET).update(body).digest();
  const given = Buffer.from(signature ?? '', 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function parse(text: string): { id: string; status: number } | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
