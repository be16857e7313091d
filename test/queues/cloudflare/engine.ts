import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Dispatching } from 'storefront-webhooks';
import {
  cloudflareQueue,
  cloudflareWorker,
  type LargeBinding,
} from 'storefront-webhooks/cloudflare';
import type { TestedQueue } from 'storefront-webhooks/testing';
import { openWorker } from './broker.js';
import type { Acknowledged, RelayedBatch } from './relay.js';

/** A message with the name of the test's queue. The queues of a Worker are fixed in its settings. */
interface Labelled {
  readonly of: string;
  readonly message: unknown;
}

type Handle = ReturnType<typeof cloudflareWorker>;

interface Inbox {
  /** Each message by its id, and whether it was acknowledged. */
  readonly seen: Map<string, boolean>;
  /** Settles the messages of a batch, after a worker is set. */
  readonly handle: Promise<Handle>;
}

export interface Relay {
  open(options: { readonly attempts: number }): Promise<TestedQueue>;
  stop(): Promise<void>;
}

const NAMES = { queue: 'live', deadLetterQueue: 'dead' };

const consumers = (queue: string, maxRetries: number) => [
  { queue, dead_letter_queue: `${queue}-dead`, max_retries: maxRetries, max_batch_timeout: 0 },
  { queue: `${queue}-dead`, max_retries: 100, max_batch_timeout: 0 },
];

/** The broker of workerd, whose batches this process handles. */
export async function openRelay(): Promise<Relay> {
  const inboxes = new Map<string, Inbox>();

  /** Settles the messages of one queue, and returns the acknowledged ones. */
  async function settle(of: string, { queue, messages }: RelayedBatch): Promise<Acknowledged> {
    const inbox = inboxes.get(of);
    // The test of this message has ended.
    if (!inbox) return messages.map(({ id }) => id);
    for (const { id } of messages) inbox.seen.set(id, false);
    const handle = await inbox.handle;
    const acknowledged: string[] = [];
    const settled = messages.map(({ id, body, attempts }) => ({
      ...{ id, body, attempts },
      ack() {
        inbox.seen.set(id, true);
        acknowledged.push(id);
      },
      retry() {},
    }));
    await handle({ queue: queue.endsWith('dead') ? 'dead' : 'live', messages: settled }, {});
    return acknowledged;
  }

  const server = createServer(async (request, response) => {
    const { queue, messages } = (await json(request)) as RelayedBatch;
    const labelled = messages.map(({ body, ...rest }) => ({ ...rest, ...(body as Labelled) }));
    const acknowledged = await Promise.all(
      Array.from(new Set(labelled.map(({ of }) => of)), (name) => {
        const own = labelled.filter(({ of }) => of === name);
        const unlabelled = own.map(({ of, message, ...rest }) => ({ ...rest, body: message }));
        return settle(name, { queue, messages: unlabelled });
      }),
    );
    response.end(JSON.stringify(acknowledged.flat()));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const worker = await openWorker(
    'relay',
    {
      queues: {
        producers: [
          { queue: 'twice', binding: 'TWICE' },
          { queue: 'thrice', binding: 'THRICE' },
        ],
        // An attempt from the dead-letter queue is the last one.
        consumers: [...consumers('twice', 0), ...consumers('thrice', 1)],
      },
      r2_buckets: [{ bucket_name: 'bodies', binding: 'BODIES' }],
    },
    { CONSUMER_PORT: `${port}` },
  );

  const bodies: LargeBinding = {
    head: () => Promise.reject(new Error('Nothing asks for it.')),
    get: async (name) => {
      const response = await fetch(`${worker.origin}/body?name=${name}`);
      return response.ok ? response : null;
    },
    put: async (name, body) => {
      const init = { method: 'PUT', body: Uint8Array.from(body) };
      await fetch(`${worker.origin}/body?name=${name}`, init);
    },
  };

  return {
    async open({ attempts }) {
      const of = randomUUID();
      const send = (message: unknown) =>
        sendTo(`${worker.origin}/${attempts <= 2 ? 'TWICE' : 'THRICE'}`, { of, message });
      let start: (handle: Handle) => void = () => {};
      const handle = new Promise<Handle>((resolve) => {
        start = resolve;
      });
      const seen = new Map<string, boolean>();
      inboxes.set(of, { seen, handle });
      return {
        queue: cloudflareQueue({ send }, { large: bodies }),
        work: async (receiver: Dispatching) =>
          start(cloudflareWorker(receiver, { ...NAMES, large: () => bodies })),
        count: async () => seen.size,
        countDone: async () => [...seen.values()].filter(Boolean).length,
        addJob: send,
        async close() {
          inboxes.delete(of);
          start(async () => {});
        },
      };
    },
    async stop() {
      await worker.stop();
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A queue whose server is gone. */
export async function openDown(): Promise<Pick<TestedQueue, 'queue' | 'close'>> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  const send = (message: unknown) => sendTo(`http://127.0.0.1:${port}`, message);
  return { queue: cloudflareQueue({ send }), close: async () => {} };
}

async function sendTo(url: string, message: unknown): Promise<void> {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(message) });
  if (!response.ok) throw new Error(`The relay answered ${response.status}.`);
}
