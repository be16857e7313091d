import { createHmac } from 'node:crypto';
import { Agent, request } from 'node:http';
import { Random } from './random.js';

export const SECRET = 'the secret of the harness';
/** A receiver that is stopped does not say so. */
const ANSWER_MS = 5_000;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;

export interface Target {
  readonly port: number;
}

/** A delivery to be sent; its id alone is one that says that an order of its own is paid. */
export interface Sent {
  readonly id: string;
  readonly event: string;
  readonly orderId: string;
  readonly status: number;
}

/** What became of one that was sent. */
export interface Answered {
  readonly port: number;
  /** 0 is no answer at all. */
  readonly status: number;
  readonly sentAt: number;
}

/** Sends deliveries as the provider does: signed, and again until the answer is good. */
export class Sender {
  readonly #targets: () => readonly Target[];
  readonly #onAnswer: (answered: Answered) => void;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 512 });
  #turn = 0;
  attempts = 0;
  /** Answers by their status; 0 is none at all. */
  readonly answers = new Map<number, number>();
  /** The good ones by what they said. */
  readonly outcomes = new Map<string, number>();
  /** The 503s by what they said. */
  readonly refusals = new Map<string, number>();

  /** @param targets - The receivers that a load balancer would send to by now. */
  constructor(targets: () => readonly Target[], onAnswer: (answered: Answered) => void = () => {}) {
    this.#targets = targets;
    this.#onAnswer = onAnswer;
  }

  /** Sends until the answer is good, at once and then after growing pauses. */
  async deliver(what: string | Sent, isGivenUp: () => boolean, onStuck: () => void = () => {}) {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      const { status } = await this.send(what);
      if (status >= 200 && status < 300) return true;
      if (isGivenUp()) return false;
      onStuck();
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  /** Sends once. Status 0: no answer. */
  async send(
    what: string | Sent,
    target = this.#next(),
  ): Promise<{ status: number; outcome: string }> {
    const sent = typeof what === 'string' ? paid(what) : what;
    this.attempts += 1;
    const sentAt = performance.now();
    const answer = target ? await post(target.port, sent, this.#agent) : { status: 0, outcome: '' };
    count(this.answers, answer.status);
    if (answer.status === 200) count(this.outcomes, answer.outcome);
    if (answer.status === 503) count(this.refusals, answer.outcome);
    if (target) this.#onAnswer({ port: target.port, status: answer.status, sentAt });
    return answer;
  }

  close(): void {
    this.#agent.destroy();
  }

  #next(): Target | undefined {
    const targets = this.#targets();
    return targets[this.#turn++ % targets.length];
  }
}

function count<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Which deliveries are sent several times, and how. */
export function copiesOf(seed: number, index: number): { atOnce: number; later: boolean } {
  const random = new Random(seed * 1_000_003 + index);
  const atOnce = random.chance(0.25) ? random.between(2, 5) : 1;
  return { atOnce, later: random.chance(0.1) };
}

function paid(id: string): Sent {
  return { id, event: 'order:paid', orderId: `order-${id}`, status: 100 };
}

function bodyOf({ orderId, status }: Sent): string {
  return JSON.stringify({
    id: orderId,
    status,
    email: 'buyer@example.com',
    product_title: 'A key',
    value: '10.00',
    updated_at: '2026-11-01T00:00:00Z',
  });
}

function post(
  port: number,
  sent: Sent,
  agent: Agent,
): Promise<{ status: number; outcome: string }> {
  const body = bodyOf(sent);
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-service-event': sent.event,
    'x-service-webhook': sent.id,
    'x-service-signature': createHmac('sha512', SECRET).update(body).digest('hex'),
  };
  return new Promise((resolve) => {
    const none = () => resolve({ status: 0, outcome: '' });
    const options = { host: '127.0.0.1', port, method: 'POST', path: '/', headers, agent };
    const outgoing = request({ ...options, timeout: ANSWER_MS }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece) => {
        text += piece;
      });
      response.once('end', () => {
        const [, outcome = ''] = /"outcome":"(\w+)"/.exec(text) ?? [];
        resolve({ status: response.statusCode ?? 0, outcome });
      });
      response.once('error', none).once('close', none);
    });
    const late = setTimeout(() => outgoing.destroy(), ANSWER_MS);
    outgoing.once('error', none).once('close', () => {
      clearTimeout(late);
      none();
    });
    outgoing.end(body);
  });
}
