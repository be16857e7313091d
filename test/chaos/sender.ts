import { createHmac } from 'node:crypto';
import { Agent, request } from 'node:http';
import { Random } from './random.js';

export const SECRET = 'the secret of the harness';
/** The secret with which forged orders are signed. */
export const GUESSED = 'guessed';
/** A stopped receiver does not close its connections. */
const ANSWER_MS = 5_000;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;

export interface Target {
  readonly port: number;
}

/** A delivery to send. With only an id, it reports a separate order as paid. */
export interface Sent {
  readonly id: string;
  readonly event: string;
  readonly orderId: string;
  readonly status: number;
}

/** The result of a sent delivery. */
export interface Answered {
  readonly port: number;
  /** 0 for no answer. */
  readonly status: number;
  readonly sentAt: number;
}

/** Sends deliveries as the provider does: signed, and repeatedly until the answer is a success. */
export class Sender {
  readonly #targets: () => readonly Target[];
  readonly #onAnswer: (answered: Answered) => void;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 512 });
  #turn = 0;
  attempts = 0;
  /** Answers by status; 0 for no answer. */
  readonly answers = new Map<number, number>();
  /** The successes by outcome. */
  readonly outcomes = new Map<string, number>();
  /** The 503s by outcome. */
  readonly refusals = new Map<string, number>();

  /** @param targets - The receivers that a load balancer would currently use. */
  constructor(targets: () => readonly Target[], onAnswer: (answered: Answered) => void = () => {}) {
    this.#targets = targets;
    this.#onAnswer = onAnswer;
  }

  /** Sends until the answer is a success, at first immediately and then after growing pauses. */
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
    const answer = target ? await this.#post(target, sent) : { status: 0, outcome: '' };
    count(this.answers, answer.status);
    if (answer.status === 200) count(this.outcomes, answer.outcome);
    if (answer.status === 503) count(this.refusals, answer.outcome);
    if (target) this.#onAnswer({ port: target.port, status: answer.status, sentAt });
    return answer;
  }

  close(): void {
    this.#agent.destroy();
  }

  async #post({ port }: Target, sent: Sent): Promise<{ status: number; outcome: string }> {
    const headers = { 'x-service-event': sent.event, 'x-service-webhook': sent.id };
    const posted = { path: '/', body: bodyOf(sent), headers };
    const { status, text } = await post(port, posted, this.#agent);
    const [, outcome = ''] = /"outcome":"(\w+)"/.exec(text) ?? [];
    return { status, outcome };
  }

  #next(): Target | undefined {
    const targets = this.#targets();
    return targets[this.#turn++ % targets.length];
  }
}

function count<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** The deliveries that are sent several times, and the way in which they are. */
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

interface Posted {
  readonly path: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a signed body once. Status 0: no answer. */
export function post(
  port: number,
  { path, body, headers = {} }: Posted,
  agent: Agent,
): Promise<{ status: number; text: string }> {
  const signed = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-service-signature': createHmac('sha512', SECRET).update(body).digest('hex'),
    ...headers,
  };
  return new Promise((resolve) => {
    const none = () => resolve({ status: 0, text: '' });
    const options = { host: '127.0.0.1', port, method: 'POST', path, headers: signed, agent };
    const sent = request({ ...options, timeout: ANSWER_MS }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece) => {
        text += piece;
      });
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.once('error', none).once('close', none);
    });
    const late = setTimeout(() => sent.destroy(), ANSWER_MS);
    sent.once('error', none).once('close', () => {
      clearTimeout(late);
      none();
    });
    sent.end(body);
  });
}
