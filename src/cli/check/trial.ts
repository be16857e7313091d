import { setTimeout as wait } from 'node:timers/promises';
import { sign } from 'storefront-webhooks/testing';
import { isUntrusted } from '../../runtime/certificates.js';
import { explain } from '../causes.js';
import { isTaken } from '../send-options.js';
import { type Draft, draft, newDeliveryId, type Orders } from './orders.js';
import { type Answer, type Outgoing, sendRequest } from './request.js';

/** The settings that all rows of a run share. */
export interface Setting {
  readonly url: URL;
  readonly secret: string;
  readonly headerPrefix: string;
  readonly orders: Orders;
  /** How long to wait for an answer. */
  readonly timeoutMs: number;
  /** How long to hold open a request whose body never ends. */
  readonly endlessMs: number;
  /** Aborts when the time of the run is up. */
  readonly signal: AbortSignal;
  /** Restarts the endpoint; `undefined` without `--restart`. */
  readonly restart: (() => Promise<void>) | undefined;
  /** How long each answer to a genuine delivery took. */
  readonly took: number[];
}

/** How a request differs from what the provider would send. */
export interface Faults extends Omit<Partial<Outgoing>, 'headers' | 'body'> {
  /** Replaces the correct signature; `null` sends no signature. */
  readonly signature?: string | null;
  /** The body to send instead of the signed one. */
  readonly body?: string | Uint8Array;
  readonly contentType?: string;
  /** Changes the headers just before they are sent. */
  readonly headers?: (headers: Outgoing['headers']) => Outgoing['headers'];
  readonly timeoutMs?: number;
}

/** An order of a trial, and how many goods it may get. */
export interface TrialOrder {
  readonly id: string;
  readonly goods: Goods;
}

const NOTHING_COMES = 'A customer has paid and never gets the goods.';
const SWITCHED_OFF =
  'The provider retries the delivery again and again, and disables an endpoint that fails too often. Then no payment arrives.';
const ATTEMPTS = 6;
const RETRY_MS = 8000;
/** How long the other requests wait for a connection that cannot be opened. */
const CONNECT_MS = 5000;

/** Runs one row: sends its deliveries, and collects the complaints. */
export class Trial {
  readonly orders: TrialOrder[] = [];
  readonly answers: number[] = [];
  readonly complaints: Complaint[] = [];
  /** Remarks that are not complaints. */
  readonly notes: string[] = [];
  /** Whether the endpoint has stopped answering. */
  isDown = false;
  readonly setting: Setting;
  readonly #row: Row;
  /** The bodies that the endpoint has accepted as `order:paid`. */
  readonly #paid = new WeakSet<Uint8Array>();

  constructor(row: Row, setting: Setting) {
    this.#row = row;
    this.setting = setting;
  }

  /** Returns the id of a new order, whose goods are counted. */
  newOrder(goods: Goods = this.#row.goods): string {
    const id = this.setting.orders.newId();
    this.orders.push({ id, goods });
    return id;
  }

  /** Returns the body of an order, which is paid unless the changes say otherwise. */
  bodyOf(orderId: string, changes?: Readonly<Record<string, unknown>>): string {
    return this.setting.orders.text(orderId, changes);
  }

  /** Returns the `order:paid` of a new order. */
  paid(changes?: Readonly<Record<string, unknown>>, goods?: Goods): Draft {
    return draft('order:paid', this.bodyOf(this.newOrder(goods), changes));
  }

  complain(cause: string, customer: string, change?: string): void {
    this.complaints.push({ cause, customer, change });
  }

  /** Sends a delivery once. */
  async send({ event, id, ...draft }: Draft, faults: Faults = {}): Promise<Answer> {
    const { url, secret, headerPrefix, orders, timeoutMs, signal } = this.setting;
    const body = orders.named(event, draft.body);
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
   * Sends a delivery until the endpoint accepts it, as the provider does, and complains if it does not.
   *
   * @param first - The answer to the first attempt, if there was one already.
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
      const told = answer.status === 0 ? cause : `The endpoint answered ${answer.status}. ${cause}`;
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

  /** Sends a delivery that is not genuine, and complains if the endpoint does not reject it. */
  async refuse(delivery: Draft, faults: Faults, customer: string): Promise<Answer> {
    const answer = await this.send(delivery, faults);
    if (isTaken(answer.status)) {
      this.complain(
        `The endpoint answered ${answer.status}, as if the delivery were genuine.`,
        customer,
      );
    } else this.complainOfFailure(answer, 'a delivery that is not genuine');
    return answer;
  }

  /** Complains if the endpoint answered 5xx, or did not answer. */
  complainOfFailure({ status, error = '' }: Answer, to: string): void {
    if (status > 0 ? status < 500 : this.setting.signal.aborted) return;
    const [late] = /within [\d.]+ s/.exec(error) ?? [];
    const silent = late === undefined ? 'closed the connection' : `did not answer ${late}`;
    this.complain(
      `The endpoint ${status === 0 ? silent : `answered ${status}`}: ${to} makes it fail.`,
      'Anyone who finds the address can make the endpoint fail while customers pay.',
    );
  }

  /** Complains if the endpoint has stopped answering. */
  async checkAlive(after = 'what this row sends'): Promise<void> {
    const answer = await this.send(draft('order:paid', '{}', newDeliveryId()), { signature: null });
    const { status, error = '' } = answer;
    // An endpoint whose certificate is not trusted is not down, and its complaint is already there.
    if (status > 0 || isUntrusted(error) || this.setting.signal.aborted) return;
    this.isDown = true;
    this.complain(
      `After ${after}, the endpoint has stopped answering. ${error}`.trim(),
      'Payments that arrive while the endpoint is down are lost, or late by hours.',
      'Read its stderr: an uncaught error in an async handler ends a Node process.',
    );
  }
}

/** Whether the next attempt of a provider may get another answer. */
function mayChange({ status, error = '' }: Answer): boolean {
  return (
    (status === 0 && !isUntrusted(error)) ||
    status >= 500 ||
    [408, 409, 423, 425, 429].includes(status)
  );
}

function pauseOf({ headers }: Answer, attempt: number): number {
  const asked = Number(headers['retry-after']) * 1000;
  const own = 100 * 2 ** attempt;
  return Math.min(Number.isFinite(asked) ? Math.max(asked, own) : own, 2000);
}

/** How many goods an order has to get at least, and may get at most. */
export type Goods = readonly [atLeast: number, atMost: number];

export const ONCE: Goods = [1, 1];

export const NEVER: Goods = [0, 0];

export const AT_MOST_ONCE: Goods = [0, 1];

/** One thing that can happen to an endpoint, and the expected result. */
export interface Row {
  /** The name that `--only` takes. */
  readonly name: string;
  /** Describes the deliveries in a few words. */
  readonly title: string;
  /** How many goods each order of the row may get. */
  readonly goods: Goods;
  /** Whether good answers alone prove nothing, so that the goods have to be counted. */
  readonly needsCount?: boolean;
  /**
   * `beside`: hands out no goods and takes long, so it runs beside the others. `alone`: may take the endpoint down,
   * so it runs last, and by itself.
   */
  readonly when?: 'beside' | 'alone';
  readonly needsRestart?: boolean;
  /** The change that helps if the row fails, with this package or without. Default: the advice for the answer. */
  readonly change?: string;
  /** Sends the deliveries, and complains to the trial about wrong answers. */
  run(trial: Trial): Promise<void>;
}

/** A fault of the endpoint, and the harm to a customer. */
export interface Complaint {
  readonly cause: string;
  readonly customer: string;
  /** The advice for the answer alone. */
  readonly change?: string | undefined;
}
