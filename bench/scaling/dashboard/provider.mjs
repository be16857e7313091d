import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { random } from './random.mjs';

const EVENTS = ['order:created', 'order:paid', 'order:updated', 'query:created'];

/** A provider in a hurry: it retries after one, two and four seconds, and then gives up. */
export class Provider {
  #receiver;
  #secret;
  #random = random(1);
  #sent = 0;
  #running = new Set();

  constructor(receiver, secret) {
    this.#receiver = receiver;
    this.#secret = secret;
  }

  /** Sends `rate` new deliveries over a second. */
  second(rate) {
    for (let i = 0; i < rate; i++) this.#start(() => this.#one((1000 * i) / rate));
  }

  async idle() {
    await Promise.all(this.#running);
  }

  async #one(afterMs) {
    const number = this.#sent++;
    const chance = this.#random();
    const event = EVENTS[Math.floor(this.#random() * EVENTS.length)];
    await delay(afterMs);
    if (chance < 0.02) return this.#send(number, event, 'not the secret');
    if (chance < 0.03) return this.#send(number, 'invoice:sent');
    if (chance < 0.06) return this.#work(number, 'query:replied');
    const status = await this.#retried(number, event);
    // The answer got lost.
    if (chance > 0.95 && status === 200) await this.#send(number, event);
    return undefined;
  }

  async #retried(number, event) {
    for (const seconds of [1, 2, 4, 0]) {
      const { status } = await this.#send(number, event);
      if (status < 500 || seconds === 0) return status;
      await delay(1000 * seconds);
    }
    return undefined;
  }

  #send(number, event, secret = this.#secret) {
    return this.#receiver.receive(request(number, event, secret));
  }

  /** Acts as the worker of a queue, which tries three times, and passes on which attempt is the last. */
  async #work(number, event) {
    const delivery = await this.#receiver.verify(request(number, event, this.#secret));
    for (const attempt of [1, 2, 3]) {
      const { outcome } = await this.#receiver.dispatch(delivery, { lastAttempt: attempt === 3 });
      if (outcome !== 'failed') return;
      await delay(500);
    }
  }

  #start(run) {
    const running = run().finally(() => this.#running.delete(running));
    this.#running.add(running);
  }
}

function request(number, event, secret) {
  const body = Buffer.from(
    JSON.stringify({
      id: `ord_${number}`,
      number,
      status: event === 'order:paid' ? 100 : 0,
      email: 'buyer@example.com',
      updated_at: '2026-11-20T10:00:05.000000+00:00',
    }),
  );
  return {
    method: 'POST',
    url: '/webhooks',
    headers: {
      'content-type': 'application/json',
      'x-service-event': event,
      'x-service-webhook': `whl_${number}`,
      'x-service-signature': createHmac('sha512', secret).update(body).digest('hex'),
    },
    body,
  };
}
