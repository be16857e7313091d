import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { sign } from 'storefront-webhooks/testing';
import { Connection, head } from '../support/raw-http.js';
import type { Started } from '../support/start.js';

/** A delivery that a project gets, and why it failed, or `undefined`. */
export interface Tried {
  readonly delivery: 'handled' | 'read before' | 'cut';
  readonly fault?: string;
}

/** Sends the deliveries to a project that runs. `/parsed` reads the body before it calls the receiver. */
export async function tryDeliveries(server: Started, secret: string): Promise<Tried[]> {
  const tried = async (delivery: Tried['delivery'], attempt: () => Promise<void>) => {
    const before = server.output().length;
    try {
      await attempt();
      return { delivery };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { delivery, fault: `${reason}\n${server.output().slice(before)}` };
    }
  };
  return [
    await tried('handled', async () => {
      const delivery = makeDelivery(secret);
      expectAnswer(await post(server, '/webhooks', delivery), 200, 'handled');
      expectAnswer(await post(server, '/webhooks', delivery), 200, 'duplicate');
      await expectRuns(server, delivery, 1);
    }),
    await tried('read before', async () => {
      const delivery = makeDelivery(secret);
      const answer = await post(server, '/parsed', delivery);
      // A framework that keeps the bytes lets the receiver read them again.
      if (answer.status === 200) return await expectRuns(server, delivery, 1);
      expectRefusal(answer);
      await expectRuns(server, delivery, 0);
      await expectReport(server, /raw body is gone|The body is (empty|incomplete|shorter)/);
    }),
    await tried('cut', async () => {
      const delivery = makeDelivery(secret);
      const half = delivery.body.subarray(0, delivery.body.length / 2);
      expectRefusal(await post(server, '/webhooks', { ...delivery, body: half }));
      await hangUp(server, delivery, half);
      await expectRuns(server, delivery, 0);
      // The next one, whole, is handled.
      expectAnswer(await post(server, '/webhooks', delivery), 200, 'handled');
      await expectRuns(server, delivery, 1);
      if (/secret does not fit/.test(server.output())) {
        throw new Error('The secret is blamed for a body that was cut.');
      }
    }),
  ];
}

interface Delivery {
  readonly order: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

function makeDelivery(secret: string): Delivery {
  const order = `ord_${randomUUID()}`;
  const body = Buffer.from(
    JSON.stringify({ id: order, status: 100, email: 'buyer@example.com', title: 'Zürich 東京' }),
  );
  return {
    order,
    body,
    headers: {
      'content-type': 'application/json',
      'x-service-event': 'order:paid',
      'x-service-webhook': `whl_${randomUUID()}`,
      'x-service-signature': sign(body, secret),
    },
  };
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function post(server: Started, path: string, { headers, body }: Delivery): Promise<Answer> {
  const response = await fetch(server.origin + path, { method: 'POST', headers, body });
  return { status: response.status, text: await response.text() };
}

/** Announces the whole body, sends half of it, and closes the connection. */
async function hangUp(server: Started, { headers, body }: Delivery, half: Buffer): Promise<void> {
  const { hostname, port } = new URL(server.origin);
  const connection = await Connection.open({
    address: hostname,
    port: Number(port),
    family: 'IPv4',
  });
  const announced = { ...headers, 'content-length': String(body.length) };
  await connection.send(head(Object.entries(announced)), half);
  connection.end();
  await connection.closed();
}

function expectAnswer({ status, text }: Answer, expected: number, outcome?: string): void {
  if (status !== expected || (outcome && !text.includes(`"${outcome}"`))) {
    throw new Error(`Expected ${expected} ${outcome ?? ''}, got ${status} ${text.slice(0, 500)}`);
  }
}

/** An answer after which the provider sends the delivery again. */
function expectRefusal({ status, text }: Answer): void {
  if (status < 400) throw new Error(`Expected an error, got ${status} ${text.slice(0, 500)}`);
}

async function expectRuns(server: Started, { order }: Delivery, times: number): Promise<void> {
  const count = () => server.output().split(`delivered ${order}`).length - 1;
  await settled(() => count() >= times);
  if (count() !== times) throw new Error(`The handler ran ${count()} times, not ${times}.`);
}

async function expectReport(server: Started, text: RegExp): Promise<void> {
  const isThere = () => text.test(server.output());
  await settled(isThere);
  if (!isThere()) throw new Error(`stderr does not say ${text}.`);
}

/** Waits up to five seconds: a line may arrive after the answer. */
async function settled(condition: () => boolean): Promise<void> {
  for (let waits = 0; !condition() && waits < 50; waits++) await setTimeout(100);
}
