import { setMaxListeners } from 'node:events';
import { writeLine } from '../../errors/log.js';
import { describeError } from '../../errors/text.js';
import { idleFor } from '../../testing/timers.js';
import type { Timer } from '../clock.js';
import type { SendFault } from '../fault.js';
import type { Faults } from '../faults.js';
import type { Account } from '../state/account.js';
import type { KeptWebhookLog } from '../state/kinds.js';
import type { Market } from '../trade/market.js';
import { attempt, type Result } from './attempt.js';
import type { Destinations, LookupAll } from './destinations.js';
import { Lanes } from './lanes.js';
import { dropLog, isOpen, isPending, whyUnwanted } from './logs.js';
import { toMessage } from './message.js';
import { settle } from './settle.js';

/** The result of an attempt to send a webhook. */
export interface WebhookAttempt {
  /** The key of the account. */
  readonly account: string;
  /** The id of the webhook, which is the same in each attempt. */
  readonly id: string;
  readonly event: string;
  readonly url: string;
  /** The id of the record in the payload, such as an order or a product. Absent if the payload has no id. */
  readonly recordId?: string;
  /** The HTTP status of the answer; 0 if there was no answer. */
  readonly status: number;
  /** The body of the answer, or the reason why there was no answer. */
  readonly answer: string;
  /** The time of the next attempt, by the clock of the account. Absent if there is no next attempt. */
  readonly retryAt?: Date;
}

/** The settings for sending webhooks. */
export interface WebhookSettings {
  /** The prefix of the webhooks' header names, including the dash at its end. Default `X-Service-`. */
  readonly headerPrefix?: string | undefined;
  /**
   * Hosts that may receive webhooks at a private address and by plain HTTP, without a port, such as
   * `host.docker.internal`. Default: none besides this machine.
   */
  readonly allowHosts?: readonly string[] | undefined;
  /** Resolves the name of a host. Default: the system does. */
  readonly lookup?: LookupAll | undefined;
  /** The longest that an attempt may take, in milliseconds of real time. Default 10 s. */
  readonly timeout?: number | undefined;
  /** The faults of all accounts, in addition to those of this account. Default: none. */
  readonly faults?: Faults | undefined;
  /** Called after each attempt. Default: no call. */
  readonly onAttempt?: ((attempt: WebhookAttempt) => void) | undefined;
}

/** The longest that `advance()` of a real clock waits for work that is due, in milliseconds of real time. */
const PATIENCE_MS = 1_000;

/** The delay of a webhook that a fault holds back, if the fault has no `ms`. */
const LATE_MS = 60_000;

const LOST: Result = { kind: 'unanswered', reason: 'No answer: a fault lost the webhook.' };
const ANSWER_LOST: Result = { kind: 'unanswered', reason: 'No answer: a fault lost the answer.' };

/** A webhook that waits until the next one to the same URL was sent. */
interface Overtaken {
  readonly id: string;
  readonly timer: Timer;
}

/**
 * Sends the webhooks of an account, to each URL one after the other and in the order of the changes. The logs
 * have all of its state, so that the next process sends what this one leaves unsent.
 */
export class Sending {
  readonly #market: Market;
  readonly #account: Account;
  readonly #settings: WebhookSettings;
  readonly #destinations: Destinations;
  readonly #lanes = new Lanes();
  /** The webhooks that a fault has held back, by URL. The last one is sent first. */
  readonly #overtaken = new Map<string, Overtaken[]>();
  readonly #stop = new AbortController();

  constructor(market: Market, destinations: Destinations, settings: WebhookSettings) {
    this.#market = market;
    this.#account = market.account;
    this.#settings = settings;
    this.#destinations = destinations;
    // There are as many listeners as attempts in progress.
    setMaxListeners(0, this.#stop.signal);
  }

  /** Resumes every webhook that is still to be sent according to the logs. */
  resume(): void {
    const now = this.#account.clock.now();
    for (const log of [...this.#account.webhookLogs].reverse()) {
      if (isPending(log) || dueAt(log) <= now) this.send(log);
      else this.#plan(log);
    }
  }

  /** Starts the next attempt of a webhook. */
  send({ id, url }: KeptWebhookLog): void {
    void this.#inLane(url, () => this.#begin(id));
  }

  /** Resolves when no webhook is being sent. */
  idle(): Promise<void> {
    return this.#lanes.idle();
  }

  /** Stops sending. Attempts in progress count as not made. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.idle();
  }

  /** Makes an attempt, or what a fault turns it into. */
  async #begin(id: string): Promise<void> {
    const log = this.#findWanted(id);
    if (!log) return;
    const everywhere = this.#settings.faults;
    const fault =
      this.#market.faults.strike('webhooks.send') ?? everywhere?.strike('webhooks.send');
    const later = this.#account.clock.now() + (fault?.ms ?? LATE_MS);
    if (fault?.effect === 'late') this.#setTimer(later, log, () => this.#attempt(id));
    else if (fault?.effect === 'reorder') this.#holdBack(later, log);
    else await this.#attempt(id, fault?.effect);
  }

  async #attempt(id: string, effect?: SendFault['effect']): Promise<void> {
    const log = this.#findWanted(id);
    if (!log) return;
    const result = effect === 'lose' ? LOST : await this.#post(log);
    if (effect === 'duplicate') await this.#post(log);
    // The next process repeats an attempt that close() has ended. The log may have been deleted meanwhile.
    if (this.#stop.signal.aborted || !this.#account.webhookLogs.get(id)) return;
    const settled = settle(this.#market, log, effect === 'lose-answer' ? ANSWER_LOST : result);
    this.#plan(settled);
    this.#tell(settled);
    await this.#sendOvertaken(log.url);
  }

  #tell(log: KeptWebhookLog): void {
    const { onAttempt } = this.#settings;
    try {
      onAttempt?.(toAttempt(log, this.#account.key));
    } catch (error) {
      writeLine(`sandbox: onAttempt threw: ${describeError(error)}`, 'operate.md#sandbox');
    }
  }

  #post(log: KeptWebhookLog): Promise<Result> {
    const { headerPrefix = 'X-Service-', timeout = 10_000 } = this.#settings;
    return attempt(log.url, toMessage(log, this.#market, headerPrefix), {
      destinations: this.#destinations,
      timeoutMs: timeout,
      stopped: this.#stop.signal,
    });
  }

  #plan(log: KeptWebhookLog): void {
    if (log.next_retry_at !== null) this.#setTimer(dueAt(log), log, () => this.#begin(log.id));
  }

  #holdBack(until: number, { id, url }: KeptWebhookLog): void {
    const held = this.#overtaken.get(url) ?? [];
    const timer = this.#setTimer(until, { url }, () => {
      held.splice(held.indexOf(overtaken), 1);
      return this.#attempt(id);
    });
    const overtaken = { id, timer };
    held.push(overtaken);
    this.#overtaken.set(url, held);
  }

  async #sendOvertaken(url: string): Promise<void> {
    const overtaken = this.#overtaken.get(url)?.pop();
    overtaken?.timer.clear();
    if (overtaken) await this.#attempt(overtaken.id);
  }

  /** Returns the log of a webhook, if the webhook is still to be sent. */
  #findWanted(id: string): KeptWebhookLog | undefined {
    const log = this.#account.webhookLogs.get(id);
    if (this.#stop.signal.aborted || !log || !isOpen(log)) return undefined;
    const reason = whyUnwanted(this.#account, log);
    if (reason === undefined) return log;
    dropLog(this.#account, log, reason);
    return undefined;
  }

  #setTimer(at: number, { url }: { url: string }, work: () => Promise<void>): Timer {
    const { clock } = this.#account;
    return clock.setTimer(at, () => {
      const running = this.#inLane(url, work);
      // advance() waits for due work and for what follows from it, but with a real clock not for work that
      // hangs. A fast clock waits by itself.
      if (clock.mode === 'fast') return;
      const ended = running.then(() => this.idle());
      const patience = idleFor(PATIENCE_MS);
      return clock.mode === 'manual' ? ended : Promise.race([ended, patience]);
    });
  }

  #inLane(url: string, work: () => Promise<void>): Promise<void> {
    const run = () => this.#lanes.run(url, () => work().catch(complain));
    return this.#account.clock.during(run);
  }
}

function dueAt({ next_retry_at }: KeptWebhookLog): number {
  return next_retry_at === null ? Number.POSITIVE_INFINITY : Date.parse(next_retry_at);
}

function toAttempt(log: KeptWebhookLog, account: string): WebhookAttempt {
  const { id, event, url, payload, response, response_code } = log;
  const retryAt = log.next_retry_at === null ? {} : { retryAt: new Date(dueAt(log)) };
  const recordId = typeof payload.id === 'string' ? { recordId: payload.id } : {};
  return {
    ...{ account, id, event, url, status: response_code, answer: response ?? '' },
    ...recordId,
    ...retryAt,
  };
}

function complain(error: unknown): void {
  writeLine(
    `sandbox: the result of a webhook could not be stored, so the webhook is sent again after a restart: ${describeError(error)}`,
    'operate.md#sandbox',
  );
}
