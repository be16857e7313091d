import type { Page } from '../errors/docs-link.js';
import { WebhookError } from '../errors/errors.js';
import { quoted, VERSION, writeLine } from '../errors/log.js';
import { Limited } from '../errors/rate-limit.js';
import { describeError, describeInFull, isOurs } from '../errors/text.js';
import type { Delivery } from '../request/delivery.js';
import type { Dispatched, Rejection } from '../request/outcome.js';
import { glanceAt } from '../stores/stored.js';

/** The delivery and handler of an error, as far as they are known. */
export interface Failure {
  readonly id?: string | undefined;
  readonly event?: string | undefined;
  /** The name of the handler that threw. */
  readonly handler?: string | undefined;
  readonly attempt?: number | undefined;
  readonly payload?: unknown;
  /** The body, if there is no payload. */
  readonly body?: Uint8Array | undefined;
}

/** The configuration that is logged when a receiver is first used. */
export interface Announced {
  /** The events that a receiver has handlers for; absent for goods. */
  readonly handles?: string;
  readonly headerPrefix: string;
  readonly store: string | undefined;
  readonly queue?: string | undefined;
}

/**
 * The lines logged so far. A program may create many receivers, as tests do: logs each line once, and not too
 * many.
 */
const announced = new Set<string>();
const MAX_ANNOUNCED = 20;

/** How many failures of one kind are logged one by one in a minute. */
const AT_ONCE = 10;
/** How many unknown events without a handler are logged by name, because senders can make names up. */
const MAX_UNHANDLED = 20;

/** Logs on stderr what no hook reports: one line each, and a limited number of lines. */
export class Messages {
  readonly #limited = new Limited();
  readonly #unhandled = new Set<string>();
  #madeUp = 0;

  /** Logs a rejected request: a forged one, or a genuine delivery that does not fit. */
  refused(rejection: Rejection, payload: unknown): void {
    const { code, status, verified, detail = '' } = rejection;
    const page = pageOf(rejection);
    const tell = (text: (count: number) => string) => {
      const level = verified ? 'error' : 'warn';
      // A quoted part is the sender's choice, so it does not make a topic of its own.
      const topic = `${code} ${verified} ${detail.replace(/`.*?`|'.*?'/g, '')}`;
      this.#limited.tell(topic, (count) => writeLine(text(count), page, level));
    };
    if (verified) {
      const { id = '(none)', event = '' } = rejection;
      const about = nameOf({ id, event, payload });
      tell((count) => `${refusedGenuine(about, status, count)}: ${whatIsWrong(rejection)}`);
    } else if (code === 'signature_invalid') {
      tell(
        (count) =>
          `rejected ${several(count, 'a delivery', 'deliveries')} because of the signature (${status}). ${detail}`,
      );
    } else {
      tell((count) =>
        `rejected ${several(count, 'a request', 'requests')} with ${status}: ${rejection.message} ${detail}`.trimEnd(),
      );
    }
  }

  failed(error: unknown, failure: Failure): void {
    const { handler } = failure;
    const code = error instanceof WebhookError ? error.code : '';
    const isStore = OF_STORE.test(code);
    const topic = isStore ? 'store' : `${code} ${handler}`;
    const where = handler === undefined ? '' : ` in the handler ${quoted(handler)}`;
    const about = failure.id === undefined && isStore ? 'the store' : nameOf(failure);
    const thrown = handler === undefined ? 'operate.md#error' : 'operate.md#handler-failed';
    const [what, page] = isOurs(error)
      ? ([describeError(error), `errors.md#${error.code}`] as const)
      : ([describeInFull(error), thrown] as const);
    const text = (count: number) =>
      count === 1
        ? `error${where} for ${about}: ${what}`
        : `${count} more errors${where} within a minute, the latest for ${about}: ${what}`;
    this.#limited.tell(topic, (count) => writeLine(text(count), page), isStore ? 1 : AT_ONCE);
  }

  hookFailed(error: unknown): void {
    const more = (count: number) =>
      count === 1 ? 'a hook' : `within a minute, ${count} more hooks`;
    this.#limited.tell(
      'hook',
      (count) =>
        writeLine(`${more(count)} threw: ${describeError(error)}`, 'operate.md#hook-failed'),
      AT_ONCE,
    );
  }

  /** Logs a delivery whose outcome could otherwise go unnoticed. */
  ended(ended: Dispatched, delivery: Delivery): void {
    const { outcome, skipped, issues = [] } = ended;
    if (outcome === 'ignored' && !skipped) this.#unhandledEvent(delivery);
    // If `onInvalid` has kept the delivery, the program knows about it.
    if (outcome !== 'parked' || ended.kept) return;
    const text = (count: number) =>
      `${count === 1 ? '' : `${count} more deliveries are parked, the latest `}${nameOf(delivery)} ` +
      whatIsWrong({ message: 'is parked: the store keeps it.', issues }) +
      ' List it with npx storefront-webhooks dead list or store.list(). Run it again with receiver.redrive().';
    this.#limited.tell('parked', (count) => writeLine(text(count), 'operate.md#parked'), AT_ONCE);
  }

  /** Logs the configuration of a receiver at its first use, which shows that requests arrive. */
  announce({ handles, headerPrefix, store, queue }: Announced): void {
    const isReceiver = handles !== undefined;
    const what = isReceiver ? `The receiver handles ${handles || 'no event'}` : 'It serves goods';
    const handedOff = isReceiver ? `; ${queue ? `queue: ${queue}` : 'no queue'}` : '';
    const line =
      `version ${VERSION} is in use. ${what}; headers: ${headerPrefix}*; ` +
      `store: ${store ?? 'your own'}${handedOff}.`;
    if (announced.has(line) || announced.size >= MAX_ANNOUNCED) return;
    announced.add(line);
    writeLine(line, undefined, 'info');
  }

  /** Logs every delivery, for the option `debug`. */
  traced(delivery: Delivery, result: Dispatched, durationMs: number): void {
    const { outcome, ran, skipped = [], attempt } = result;
    const tried = attempt === undefined ? '' : `, attempt ${attempt}`;
    const done = ran.length === 0 ? '' : `, done: ${ran.join(', ')}`;
    const left = skipped.length === 0 ? '' : `, skipped: ${skipped.join(', ')}`;
    writeLine(
      `${nameOf(delivery)}: ${outcome} in ${durationMs.toFixed(1)} ms${tried}${done}${left}`,
      undefined,
      'info',
    );
  }

  tracedRefusal(rejection: Rejection): void {
    const { status, code, id, event, detail } = rejection;
    const page = pageOf(rejection);
    writeLine(
      `${nameOf({ id, event })}: rejected with ${status} ${code}. ${detail ?? ''}`.trimEnd(),
      page,
      'info',
    );
  }

  /** Logs the counts that have not been logged yet. */
  flush(): void {
    this.#limited.flush();
  }

  /** Logs an event without a handler, once: the provider gets a 200 and reports nothing either. */
  #unhandledEvent({ event, kind }: Delivery): void {
    const isMadeUp = kind !== 'known';
    if (this.#unhandled.has(event) || (isMadeUp && this.#madeUp > MAX_UNHANDLED)) return;
    const tell = (text: string) => writeLine(text, 'operate.md#unhandled', 'warn');
    if (isMadeUp) this.#madeUp += 1;
    if (isMadeUp && this.#madeUp > MAX_UNHANDLED) {
      tell('more unknown events have no handler. They are not logged.');
      return;
    }
    this.#unhandled.add(event);
    const name = quoted(event);
    const call = event === 'order:paid' ? '.onPaid(handler)' : `.on(${name}, handler)`;
    const mend = !isMadeUp
      ? `${call}.`
      : `.onUnknown(handler); or createReceiver({ events: { ${name}: schema } }) and .on(${name}, handler). ` +
        "'*' and families such as 'order:*' cover the known events only.";
    tell(
      `no handler for the event ${name}: it is answered 200 and not sent again. To handle it: ${mend}`,
    );
  }
}

/**
 * The codes of errors that concern the whole store. They are logged as one topic. An outcome that was not recorded
 * concerns its delivery, which may run again.
 */
const OF_STORE = /^(store|schema)_/;

function nameOf({ id, event, attempt, payload, body }: Failure): string {
  if (id === undefined && event === undefined) return 'a request';
  const orderId: unknown = body ? glanceAt(body).orderId : Object(payload).id;
  const order =
    event?.startsWith('order:') && typeof orderId === 'string' ? `, order ${quoted(orderId)}` : '';
  const tried = attempt === undefined ? '' : `, attempt ${attempt}`;
  return `delivery ${quoted(id ?? '(none)')} (${quoted(event ?? '')}${order}${tried})`;
}

/** Returns no page for a signature: the detail of the rejection already names its page. */
function pageOf({ code }: Rejection): Page | undefined {
  return code === 'signature_invalid' ? undefined : `errors.md#${code}`;
}

function refusedGenuine(latest: string, status: number, count: number): string {
  return count === 1
    ? `rejected ${latest} with ${status}`
    : `rejected ${count} more genuine deliveries with ${status} within a minute, the latest ${latest}`;
}

function whatIsWrong({ message, issues }: Pick<Rejection, 'message' | 'issues'>): string {
  const faults = issues.map(({ path, message: fault, foreign }) =>
    // The message of a schema of the user may quote the payload.
    foreign ? 'the payload' : `${path} ${fault}`.trim(),
  );
  return faults.length === 0 ? message : `${message} Look at: ${faults.join('; ')}.`;
}

function several(count: number, one: string, many: string): string {
  return count === 1 ? one : `${count} ${many} within a minute`;
}
