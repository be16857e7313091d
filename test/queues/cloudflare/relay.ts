/**
 * Relays between the queues of workerd and the test process: enqueued messages, and each batch, with how its
 * messages are settled there.
 */
import type { MessageBatch, Queue, R2Bucket } from '@cloudflare/workers-types';

export interface Env {
  readonly TWICE: Queue;
  readonly THRICE: Queue;
  readonly BODIES: R2Bucket;
  /** The address that gets the batches, on this machine. */
  readonly CONSUMER_PORT: string;
}

export interface RelayedBatch {
  readonly queue: string;
  readonly messages: readonly { id: string; body: unknown; attempts: number }[];
}

/** The messages that are done. */
export type Acknowledged = readonly string[];

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const name = searchParams.get('name') ?? '';
    switch (`${request.method} ${pathname}`) {
      case 'POST /TWICE':
      case 'POST /THRICE':
        await env[pathname === '/TWICE' ? 'TWICE' : 'THRICE'].send(await request.json(), {
          contentType: 'json',
        });
        return new Response();
      case 'PUT /body':
        await env.BODIES.put(name, await request.arrayBuffer());
        return new Response();
      case 'GET /body': {
        const body = await env.BODIES.get(name);
        return new Response(await body?.arrayBuffer(), { status: body ? 200 : 404 });
      }
      default:
        return new Response(null, { status: 404 });
    }
  },

  async queue({ queue, messages }: MessageBatch, env: Env): Promise<void> {
    const relayed = messages.map(({ id, body, attempts }) => ({ id, body, attempts }));
    const body = JSON.stringify({ queue, messages: relayed } satisfies RelayedBatch);
    const response = await fetch(`http://127.0.0.1:${env.CONSUMER_PORT}`, { method: 'POST', body });
    const acknowledged = (await response.json()) as Acknowledged;
    for (const message of messages) {
      if (acknowledged.includes(message.id)) message.ack();
      // Soon, whatever delay the worker sets: a test cannot wait a quarter of an hour.
      else message.retry({ delaySeconds: queue.endsWith('dead') ? 1 : 0 });
    }
  },
};
