import { WebhookError } from '../errors.js';
import type { Page } from '../explained.js';
import type { Dispatched, Rejection } from '../outcome.js';
import type { Delivery } from '../request/delivery.js';
import { isJsonObject } from '../schemas/json.js';
import { Limited } from './limited.js';
import { quoted, writeLine } from './log.js';
import { describeError, describeInFull, isOurs } from './text.js';
import { VERSION } from './version.js';

/** What an error is about, as far as it is known. */
export interface Failure {
  readonly id?: string | undefined;
  readonly event?: string | undefined;
  /** The name of the handler that threw. */
  readonly handler?: string | undefined;
  readonly attempt?: number | undefined;
  readonly payload?: unknown;
}

/** What is said of a receiver at its first use. */
export interface Announced {
  /** The events that a receiver has handlers for; absent where goods are given. */
  readonly handles?: string;
  readonly headerPrefix: string;
  readonly store: string | undefined;
  readonly queue?: string | undefined;
}

/** A program may make one receiver after another, as tests do: the same is said once, and not for ever. */
const announced = new Set<string>();
const MAX_ANNOUNCED = 20;

/** How many failures of one kind are told of by themselves in a minute. */
const AT_ONCE = 10;
/** So many events that nobody handles are told by name: their names are a sender's to choose. */
const MAX_UNHANDLED = 20;

/** What is told on stderr where nobody has set a hook for it: one line each, and bounded in number. */
export class Lines {
  readonly #limited = new Limited();
  readonly #unhandled = new Set<string>();
  #madeUp = 0;

  /** Somebody else's request, or a genuine delivery that nobody here could take. */
  refused(rejection: Rejection, payload: unknown): void {
    const { code, status, verified, detail = '' } = rejection;
    const page = pageOf(rejection);
    const tell = (text: (count: number) => string) => {
      const level = verified ? 'error' : 'warn';
      // What is quoted is a sender's to choose, and makes no topic.
      const topic = `${code} ${verified} ${detail.replace(/`.*?`|'.*?'/g, '')}`;
      this.#limited.tell(topic, (count) => writeLine(text(count), page, level));
    };
    if (verified) {
      const { id = '(none)', event = '' } = rejection;
      const about = nameOf({ id, event, payload });
      tell((count) => `${refusedGenuine(about, status, count)}: ${whatIsWrong(rejection)}`);
    } else if (code === 'signature_invalid') {
      tell((count) => `refused ${deliveries(count)} for the signature (${status}). ${detail}`);
    } else {
      const seen = detail === '' ? '' : ` ${detail}`;
      tell((count) => `refused ${requests(count)} with ${status}: ${rejection.message}${seen}`);
    }
  }

  failed(error: unknown, failure: Failure): void {
    const { handler } = failure;
    const code = error instanceof WebhookError ? error.code : '';
    const isStore = STORE_CODES.has(code);
    const topic = isStore ? 'store' : handler === undefined ? `error ${code}` : `in ${handler}`;
    const where = handler === undefined ? '' : ` in the handler ${quoted(handler)}`;
    const what = isOurs(error) ? describeError(error) : describeInFull(error);
    const about = failure.id === undefined && isStore ? 'the store' : nameOf(failure);
    const thrown = handler === undefined ? 'operate.md#error' : 'operate.md#handler-failed';
    const page = isOurs(error) ? (`errors.md#${error.code}` as const) : thrown;
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

  /** A delivery that has ended in a way in which it may be missed. */
  ended({ outcome, ran, skipped }: Dispatched, delivery: Delivery): void {
    if (outcome === 'ignored' && !skipped) this.#unhandledEvent(delivery);
    // What `onInvalid` has kept is where its program wants it.
    if (outcome !== 'parked' || ran.length > 0) return;
    const text = (count: number) =>
      `${count === 1 ? '' : `${count} more deliveries are parked, the latest `}${nameOf(delivery)} ` +
      'is parked: kept in the store, and not run any more. Look at it with npx storefront-webhooks dead ' +
      "list or store.list({ state: 'dead', limit: 100 }), and run it again with receiver.redrive().";
    this.#limited.tell('parked', (count) => writeLine(text(count), 'operate.md#parked'), AT_ONCE);
  }

  /** What a receiver is, once it is used: so that nobody has to guess whether it listens at all. */
  announce({ handles, headerPrefix, store, queue }: Announced): void {
    const isReceiver = handles !== undefined;
    const what = isReceiver ? `The receiver handles ${handles || 'no event'}` : 'It gives goods';
    const handedOff = isReceiver ? `; ${queue ? `queue: ${queue}` : 'no queue'}` : '';
    const line =
      `version ${VERSION} is in use. ${what}; headers: ${headerPrefix}*; ` +
      `store: ${store ?? 'of your own'}${handedOff}.`;
    if (announced.has(line) || announced.size >= MAX_ANNOUNCED) return;
    announced.add(line);
    writeLine(line, undefined, 'warn');
  }

  /** Tells of every delivery, for `debug`. */
  traced(delivery: Delivery, result: Dispatched, durationMs: number): void {
    const { outcome, ran, skipped = [], attempt } = result;
    const tried = attempt === undefined ? '' : `, attempt ${attempt}`;
    const done = ran.length === 0 ? '' : `, done: ${ran.join(', ')}`;
    const left = skipped.length === 0 ? '' : `, skipped: ${skipped.join(', ')}`;
    writeLine(
      `${nameOf(delivery)}: ${outcome} in ${durationMs.toFixed(1)} ms${tried}${done}${left}`,
      undefined,
      'warn',
    );
  }

  tracedRefusal(rejection: Rejection): void {
    const { status, code, id, event, detail } = rejection;
    const page = pageOf(rejection);
    const about = id === undefined && event === undefined ? 'a request' : nameOf({ id, event });
    writeLine(`${about}: rejected with ${status} ${code}. ${detail ?? ''}`.trimEnd(), page, 'warn');
  }

  /** Tells what has been counted and not told yet. */
  flush(): void {
    this.#limited.flush();
  }

  /** Once for each: it is acknowledged, so nobody else will ever say so. */
  #unhandledEvent({ event, kind }: Delivery): void {
    if (this.#unhandled.has(event)) return;
    if (kind !== 'known' && this.#madeUp > MAX_UNHANDLED) return;
    if (kind !== 'known') this.#madeUp += 1;
    if (this.#madeUp > MAX_UNHANDLED && kind !== 'known') {
      writeLine(
        'more events than these have no handler: unknown ones are not told of.',
        'operate.md#unhandled',
        'warn',
      );
      return;
    }
    this.#unhandled.add(event);
    const name = quoted(event);
    const mend =
      kind === 'known'
        ? `.on(${name}, handler).`
        : `.onUnknown(handler); or createReceiver({ events: { ${name}: schema } }) and .on(${name}, handler). ` +
          "'*' and families such as 'order:*' cover the known events only.";
    writeLine(
      `nobody handles the event ${name}: it is answered 200 and does not come again. To handle it: ${mend}`,
      'operate.md#unhandled',
      'warn',
    );
  }
}

/** What goes wrong with all deliveries at once, and is told of as one thing. */
const STORE_CODES: ReadonlySet<string> = new Set([
  'outcome_unrecorded',
  'schema_missing',
  'schema_newer',
  'store_full',
  'store_invalid',
  'store_unavailable',
]);

function nameOf({ id, event, attempt, payload }: Failure): string {
  if (id === undefined && event === undefined) return 'a request';
  const order =
    event?.startsWith('order:') && isJsonObject(payload) && typeof payload.id === 'string'
      ? `, order ${quoted(payload.id)}`
      : '';
  const tried = attempt === undefined ? '' : `, attempt ${attempt}`;
  return `delivery ${quoted(id ?? '(none)')} (${quoted(event ?? '')}${order}${tried})`;
}

/** Why a signature does not hold is told with its page. */
function pageOf({ code }: Rejection): Page | undefined {
  return code === 'signature_invalid' ? undefined : `errors.md#${code}`;
}

function refusedGenuine(latest: string, status: number, count: number): string {
  return count === 1
    ? `refused ${latest} with ${status}`
    : `refused ${count} more genuine deliveries with ${status} within a minute, the latest ${latest}`;
}

function whatIsWrong({ message, issues }: Rejection): string {
  const faults = issues.map(({ path, message: fault, foreign }) =>
    // A schema of the user's may quote the payload.
    foreign ? 'the payload' : `${path} ${fault}`.trim(),
  );
  return faults.length === 0 ? message : `${message} Look at: ${faults.join('; ')}.`;
}

function deliveries(count: number): string {
  return count === 1 ? 'a delivery' : `${count} deliveries within a minute`;
}

function requests(count: number): string {
  return count === 1 ? 'a request' : `${count} requests within a minute`;
}
