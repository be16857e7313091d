import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeLine } from '../../report/log.js';
import { describeError } from '../../report/text.js';
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
import { settle } from './settling.js';

/** What became of an attempt to send a webhook. */
export interface WebhookAttempt {
  /** The key of the account. */
  readonly account: string;
  /** Of the webhook: the same in each attempt. */
  readonly id: string;
  readonly event: string;
  readonly url: string;
  /** Of what was sent: an order, a product. Absent where it has none. */
  readonly recordId?: string;
  /** 0: there was no answer. */
  readonly status: number;
  /** The body of the answer, or why there was none. */
  readonly answer: string;
  /** When it is sent again, by the clock of the account. Absent: never. */
  readonly retryAt?: Date;
}

/** How webhooks are sent. */
export interface WebhookSettings {
  /** What the names of their headers begin with, with the dash that ends it. Default `X-Service-`. */
  readonly headerPrefix?: string | undefined;
  /**
   * Hosts that webhooks may go to though their address is private, also by plain HTTP; without a port, such as
   * `host.docker.internal`. Default: none beside this machine.
   */
  readonly allowHosts?: readonly string[] | undefined;
  /** Says where the name of a host leads. Default: the system does. */
  readonly lookup?: LookupAll | undefined;
  /** The longest an attempt may take, in milliseconds outside. Default 10 s. */
  readonly timeout?: number | undefined;
  /** What goes wrong in all accounts, beside what goes wrong in this one. Default: nothing. */
  readonly faults?: Faults | undefined;
  /** Is told of each attempt. Default: nobody is. */
  readonly onAttempt?: ((attempt: WebhookAttempt) => void) | undefined;
}

/** How long who moves a real clock waits for what is due, in milliseconds outside. */
const PATIENCE_MS = 1_000;

/** How late a webhook is that a fault holds back, where the fault does not say. */
const LATE_MS = 60_000;

const LOST: Result = { kind: 'unanswered', reason: 'No answer: lost on the way, by a fault.' };
const ANSWER_LOST: Result = { kind: 'unanswered', reason: 'No answer: it was lost, by a fault.' };

/** A webhook that waits until the next one to the same URL was sent. */
interface Overtaken {
  readonly id: string;
  readonly timer: Timer;
}

/**
 * Sends the webhooks of an account, to each URL one after the other and in the order of the changes. All of its
 * state is in the logs: what one process did not come to, the next one sends.
 */
export class Sending {
  readonly #market: Market;
  readonly #account: Account;
  readonly #settings: WebhookSettings;
  readonly #destinations: Destinations;
  /** By URL. */
  readonly #lanes = new Lanes();
  /** By URL, the last one first to go. */
  readonly #overtaken = new Map<string, Overtaken[]>();
  readonly #stop = new AbortController();

  constructor(market: Market, destinations: Destinations, settings: WebhookSettings) {
    this.#market = market;
    this.#account = market.account;
    this.#settings = settings;
    this.#destinations = destinations;
    // As many as there are URLs.
    setMaxListeners(0, this.#stop.signal);
  }

  /** Takes up what is to be sent by the logs. */
  resume(): void {
    const now = this.#account.clock.now();
    for (const log of [...this.#account.webhookLogs].reverse()) {
      if (isPending(log) || dueAt(log) <= now) this.send(log);
      else this.#plan(log);
    }
  }

  /** Makes the next attempt of a webhook. */
  send({ id, url }: KeptWebhookLog): void {
    void this.#inLane(url, () => this.#begin(id));
  }

  /** Resolves when nothing is being sent. */
  idle(): Promise<void> {
    return this.#lanes.idle();
  }

  /** Sends nothing any more. What was being sent counts as not sent. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.idle();
  }

  /** Makes an attempt, as the faults have it. */
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
    // What close() has ended is sent by the next process. The log may have been deleted meanwhile.
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

  /** The log of a webhook that is still to be sent. */
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
      // Who moves the time by hand waits for what is due, and for what follows from it; where it goes by outside as
      // well, not for one that hangs. The fast clock waits by itself.
      if (clock.mode === 'fast') return;
      const ended = running.then(() => this.idle());
      const patience = sleep(PATIENCE_MS, undefined, { ref: false });
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
    `What became of a webhook could not be kept, so it is sent again after a restart: ${describeError(error)}`,
    'operate.md#sandbox',
  );
}
