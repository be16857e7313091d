import { setTimeout as wait } from 'node:timers/promises';
import { sign } from 'storefront-webhooks/testing';
import { explain } from '../causes.js';
import { isTaken } from '../sending.js';
import { type Draft, draft, newDeliveryId, type Orders } from './orders.js';
import { type Answer, type Outgoing, sendRequest } from './request.js';
import type { Complaint, Goods, Row } from './row.js';

/** What all rows of a run have in common. */
export interface Setting {
  readonly url: URL;
  readonly secret: string;
  readonly headerPrefix: string;
  readonly orders: Orders;
  /** How long an answer may take. */
  readonly timeoutMs: number;
  /** How long a body that never ends is held open. */
  readonly endlessMs: number;
  /** Fires when the time of the run is over. */
  readonly signal: AbortSignal;
  /** Restarts the endpoint; nothing without `--restart`. */
  readonly restart: (() => Promise<void>) | undefined;
  /** How long each answer to a genuine delivery took. */
  readonly took: number[];
}

/** How a request differs from what the provider would send. */
export interface Faults extends Omit<Partial<Outgoing>, 'headers' | 'body'> {
  /** In place of the right one; `null` sends none. */
  readonly signature?: string | null;
  /** Sent in place of what was signed. */
  readonly body?: string | Uint8Array;
  readonly contentType?: string;
  /** Changes the headers in the end. */
  readonly headers?: (headers: Outgoing['headers']) => Outgoing['headers'];
  readonly timeoutMs?: number;
}

/** An order of a trial, and what it may be handed. */
export interface TrialOrder {
  readonly id: string;
  readonly goods: Goods;
}

const NOTHING_COMES = 'A customer has paid, and never gets the goods.';
const SWITCHED_OFF =
  'The provider sends it again and again, and switches an endpoint off that fails too often: then no payment arrives.';
const ATTEMPTS = 6;
const RETRY_MS = 8000;
/** So long is waited for a connection that does not come about. */
const CONNECT_MS = 5000;

/** One row as it is being run: sends, and keeps what was wrong. */
export class Trial {
  readonly orders: TrialOrder[] = [];
  readonly answers: number[] = [];
  readonly complaints: Complaint[] = [];
  /** What is well, and still worth a word. */
  readonly notes: string[] = [];
  /** Whether the endpoint answers nothing any more. */
  isDown = false;
  readonly setting: Setting;
  readonly #row: Row;
  /** The bodies that were taken as `order:paid`. */
  readonly #paid = new WeakSet<Uint8Array>();

  constructor(row: Row, setting: Setting) {
    this.#row = row;
    this.setting = setting;
  }

  /** The id of a new order, whose goods are counted. */
  newOrder(goods: Goods = this.#row.goods): string {
    const id = this.setting.orders.newId();
    this.orders.push({ id, goods });
    return id;
  }

  /** The body of an order, paid unless the changes say otherwise. */
  bodyOf(orderId: string, changes?: Readonly<Record<string, unknown>>): string {
    return this.setting.orders.text(orderId, changes);
  }

  /** `order:paid` of a new order. */
  paid(changes?: Readonly<Record<string, unknown>>, goods?: Goods): Draft {
    return draft('order:paid', this.bodyOf(this.newOrder(goods), changes));
  }

  complain(cause: string, customer: string, change?: string): void {
    this.complaints.push({ cause, customer, change });
  }

  /** Sends a delivery once. */
  async send({ event, id, body }: Draft, faults: Faults = {}): Promise<Answer> {
    const { url, secret, headerPrefix, timeoutMs, signal } = this.setting;
    const { signature = sign(body, secret), body: sent = body, headers, contentType } = faults;
    const usual: Outgoing['headers'] = [
      ['Content-Type', contentType ?? 'application/json'],
      [`${headerPrefix}Event`, event],
      ...(signature === null ? [] : [[`${headerPrefix}Signature`, signature] as const]),
      [`${headerPrefix}Webhook`, id],
    ];
    const answer = await sendRequest(
      url,
      {
        ...faults,
        headers: headers?.(usual) ?? usual,
        body: typeof sent === 'string' ? new TextEncoder().encode(sent) : sent,
      },
      faults.timeoutMs ?? timeoutMs,
      signal,
    );
    if (!faults.hangUp) this.answers.push(answer.status);
    return answer;
  }

  /**
   * Sends a delivery until it is taken, as the provider does, and complains where it is not.
   *
   * @param first - What the first sending of it was answered, where there was one.
   */
  async take(delivery: Draft, faults?: Faults, first?: Answer): Promise<Answer> {
    let answer = first ?? (await this.send(delivery, faults));
    this.setting.took.push(answer.ms);
    const end = performance.now() + RETRY_MS;
    for (let attempt = 1; attempt < ATTEMPTS && mayChange(answer); attempt++) {
      if (this.setting.signal.aborted || performance.now() > end) break;
      await wait(pauseOf(answer, attempt));
      answer = await this.send(delivery, faults);
    }
    const isPayment = delivery.event === 'order:paid' && !this.#paid.has(delivery.body);
    if (!isTaken(answer.status)) {
      const { cause = '', fix } = explain({
        status: answer.status,
        outcome: '',
        event: delivery.event,
        error: answer.error ?? 'There was no answer.',
        expect: undefined,
      });
      const told = answer.status === 0 ? cause : `It was answered ${answer.status}. ${cause}`;
      this.complain(told, isPayment ? NOTHING_COMES : SWITCHED_OFF, fix);
    } else if (isPayment) this.#paid.add(delivery.body);
    return answer;
  }

  /** Sends deliveries so that the last byte of each leaves at the same moment. */
  sendAtOnce(deliveries: readonly Draft[]): Promise<Answer[]> {
    let missing = deliveries.length;
    const late = new AbortController();
    const all = wait(CONNECT_MS, undefined, { signal: late.signal }).catch(() => {});
    const hold = () => {
      missing -= 1;
      if (missing === 0) late.abort();
      return all;
    };
    return Promise.all(deliveries.map((delivery) => this.send(delivery, { hold })));
  }

  /** Sends what is not genuine, and complains where it is not refused. */
  async refuse(delivery: Draft, faults: Faults, customer: string): Promise<Answer> {
    const answer = await this.send(delivery, faults);
    if (isTaken(answer.status)) {
      this.complain(`It was answered ${answer.status}, as if it were genuine.`, customer);
    } else if (answer.status >= 500) {
      this.complain(
        `It was answered ${answer.status}: what is not genuine makes the endpoint fail.`,
        'Whoever finds the address can make it fail, while customers pay.',
      );
    }
    return answer;
  }

  /** Complains where the endpoint answers nothing any more. */
  async checkAlive(after = 'what this row sends'): Promise<void> {
    const answer = await this.send(draft('order:paid', '{}', newDeliveryId()), { signature: null });
    if (answer.status > 0 || this.setting.signal.aborted) return;
    this.isDown = true;
    this.complain(
      `After ${after}, the endpoint answers nothing any more. ${answer.error ?? ''}`.trim(),
      'Payments that come while it is down are lost, or late by hours.',
      'Look at what it says on stderr: an error in an async handler that nobody catches ends a Node process.',
    );
  }
}

/** Whether a provider's next attempt may be answered otherwise. */
function mayChange({ status }: Answer): boolean {
  return status === 0 || status >= 500 || [408, 409, 423, 425, 429].includes(status);
}

function pauseOf({ headers }: Answer, attempt: number): number {
  const asked = Number(headers['retry-after']) * 1000;
  const own = 100 * 2 ** attempt;
  return Math.min(Number.isFinite(asked) ? Math.max(asked, own) : own, 2000);
}
