import { UsageError } from '../errors/errors.js';
import { didYouMean } from '../errors/text.js';
import type { Delivery } from '../request/delivery.js';
import type { IdempotencyStore } from '../stores/store.js';
import type { WebhookEvent, WhenInfo } from './handler.js';
import { stepName } from './handler-event.js';
import { checkOptionNames, checkSkipOlder, checkTransaction } from './handler-options.js';

/**
 * A handler without the types of its payload. The types of `.on` guarantee that it gets the payloads it expects.
 */
export type AnyHandler = (event: WebhookEvent<string, unknown>) => unknown;

/** An `oncePer` without the types of its payload. */
export type AnyKey = (payload: unknown) => string;

/** A `when` without the types of its payload. Its result has not been checked. */
export type AnyWhen = (payload: unknown, info: WhenInfo) => unknown;

/** A registered handler with its options. */
export interface Route {
  readonly name: string;
  /** The first name of the handler, under which the store remembers what it has done. */
  readonly storedName: string;
  /** The name of the step that records that the handler has run for a delivery. */
  readonly step: string;
  readonly handler: AnyHandler;
  readonly when?: AnyWhen | undefined;
  readonly oncePer?: AnyKey | undefined;
  readonly skipOlder?: boolean | undefined;
  /** Whether the handler runs in the transaction of the store that records it. */
  readonly transaction?: boolean | undefined;
}

/** The options of a handler without the types of its payload. */
export interface RouteOptions {
  readonly name?: string | undefined;
  readonly formerly?: string | undefined;
  readonly when?: AnyWhen | undefined;
  readonly oncePer?: AnyKey | undefined;
  readonly skipOlder?: boolean | undefined;
  readonly transaction?: boolean | undefined;
}

const ONLY_ONE = 'Combine the two.';
const nameIt = (call: string) =>
  'The store keeps progress under the name of a handler. Give this one another name: ' +
  `${call}, { name: 'other' }).`;

/** Finds the handlers of an event. Uses Sets and Maps only, because an event may be named `constructor`. */
export class Router {
  readonly #routes: ReadonlyMap<string, Route[]>;
  readonly #names = new Set<string>();
  #unknown: Route | undefined;
  #invalid: Route | undefined;
  #inUse = false;
  readonly #store: Pick<IdempotencyStore, 'transactions' | 'description'>;

  /** @param events - The names of the known events. */
  constructor(
    events: Iterable<string>,
    store: Pick<IdempotencyStore, 'transactions' | 'description'> = {},
  ) {
    this.#routes = new Map(Array.from(events, (event) => [event, []]));
    this.#store = store;
  }

  /**
   * Adds one handler for every known event that any of the patterns covers.
   *
   * @param call - The beginning of the call that registers it, for messages.
   */
  on(
    patterns: readonly string[],
    handler: AnyHandler,
    options: RouteOptions,
    call = '.on(…, handler',
  ): void {
    checkOptionNames('.on()', options);
    const { name, formerly, when, oncePer, skipOlder, transaction } = options;
    if (patterns.length === 0) {
      throw new UsageError('handler_invalid', '.on() needs at least one event.');
    }
    for (const pattern of patterns) this.#checkPattern(pattern);
    for (const [option, text] of Object.entries({ name, formerly })) {
      if (text === undefined || (typeof text === 'string' && text !== '')) continue;
      const message = `The ${option} of a handler has to be a single text that is not empty.`;
      throw new UsageError('handler_invalid', message);
    }
    if (formerly !== undefined && name === undefined) {
      throw new UsageError('handler_invalid', 'formerly needs a name, the new one.');
    }
    for (const [option, given, example] of [
      ['when', when, 'isPaid'],
      ['oncePer', oncePer, '(order) => order.id'],
    ] as const) {
      if (given === undefined || typeof given === 'function') continue;
      const message = `${option} has to be a function of the payload, such as ${example}.`;
      throw new UsageError('handler_invalid', message);
    }
    const family = patterns.find((pattern) => !this.#routes.has(pattern));
    if (oncePer && family !== undefined) {
      throw new UsageError(
        'handler_invalid',
        `oncePer needs exact event names, and '${family}' would include new ones. ` +
          "List them: ['order:paid', 'order:updated']. To deliver paid orders: .onPaid(handler).",
      );
    }
    if (oncePer && name === undefined) {
      const [pattern = ''] = patterns;
      throw new UsageError(
        'handler_invalid',
        'oncePer needs a name, under which the store remembers forever what is done: .on(…, handler, ' +
          "{ name: 'deliver', oncePer: … }). If it ran without a name before, add " +
          `formerly: '${pattern}', or it repeats everything.`,
      );
    }
    if (transaction !== undefined)
      checkTransaction(transaction, { handler, name, skipOlder }, this.#store);
    if (skipOlder !== undefined) checkSkipOlder(skipOlder, { name, oncePer, patterns });
    for (const taken of name === undefined ? new Set(patterns) : new Set([name, formerly ?? name]))
      this.#take(taken, handler, nameIt(call));
    for (const [event, routes] of this.#routes) {
      const pattern = patterns.find((candidate) => covers(candidate, event));
      if (pattern !== undefined)
        routes.push(
          toRoute(name ?? pattern, handler, { formerly, when, oncePer, skipOlder, transaction }),
        );
    }
  }

  onUnknown(handler: AnyHandler): void {
    this.#take('onUnknown', handler, ONLY_ONE);
    this.#unknown = toRoute('onUnknown', handler);
  }

  onInvalid(handler: AnyHandler): void {
    this.#take('onInvalid', handler, ONLY_ONE);
    this.#invalid = toRoute('onInvalid', handler);
  }

  /** The event names that have handlers, as a readable list. */
  get handled(): string {
    const events = [...this.#routes].flatMap(([event, { length }]) => (length > 0 ? event : []));
    const all = events.length === this.#routes.size ? ['every known event'] : events;
    return [...all, ...(this.#unknown ? ['unknown events'] : [])].join(', ');
  }

  /** Returns the handlers for a delivery. After the first call, no handler can be registered. */
  routesFor({ kind, event }: Pick<Delivery, 'kind' | 'event'>): readonly Route[] {
    this.#inUse = true;
    if (kind === 'known') return this.#routes.get(event) ?? [];
    const route = kind === 'unknown' ? this.#unknown : this.#invalid;
    return route ? [route] : [];
  }

  /** Whether an event has handlers. An unknown event has the handler of `onUnknown`. */
  handles(event: string): boolean {
    return (this.#routes.get(event)?.length ?? (this.#unknown ? 1 : 0)) > 0;
  }

  /** Whether an event has handlers, and all of them have `oncePer`. */
  isOncePer(event: string): boolean {
    const routes = this.#routes.get(event) ?? [];
    return routes.length > 0 && routes.every(({ oncePer }) => oncePer);
  }

  /**
   * Returns the handler of a name, which has to have `oncePer`.
   *
   * @throws {UsageError} `handler_unknown`
   */
  effectRoute(name: string): Route {
    const routes = [...this.#routes.values()].flat().filter(({ oncePer }) => oncePer);
    const route = routes.find((one) => one.name === name);
    if (route) return route;
    const names = [...new Set(routes.map((one) => one.name))];
    throw new UsageError(
      'handler_unknown',
      `There is no handler ${JSON.stringify(name)} with oncePer. ${didYouMean(`${name}`, names)}` +
        `Handlers with oncePer: ${names.join(', ') || 'none'}.`,
    );
  }

  #checkPattern(pattern: string): void {
    const events = [...this.#routes.keys()];
    if (typeof pattern === 'string' && events.some((event) => covers(pattern, event))) return;
    const families = events.map((event) => `${event.split(':')[0]}:*`);
    throw new UsageError(
      'event_unknown',
      `No known event is covered by ${JSON.stringify(pattern)}. ` +
        `${didYouMean(`${pattern}`, [...events, ...families])}Known are ${events.join(', ')}. ` +
        'Add your own with createReceiver({ events: { name: schema } }), or handle it with .onUnknown().',
    );
  }

  #take(name: string, handler: unknown, hint: string): void {
    if (this.#inUse) {
      throw new UsageError(
        'registered_late',
        `The handler "${name}" was registered after the first delivery. ` +
          'Register all handlers where the receiver is created.',
      );
    }
    if (typeof handler !== 'function') {
      throw new UsageError('handler_invalid', `The handler for "${name}" is not a function.`);
    }
    if (this.#names.has(name)) {
      throw new UsageError('handler_duplicate', `There is already a handler "${name}". ${hint}`);
    }
    this.#names.add(name);
  }
}

function covers(pattern: string, event: string): boolean {
  if (pattern === '*' || pattern === event) return true;
  return pattern.endsWith(':*') && event.startsWith(pattern.slice(0, -1));
}

function toRoute(
  name: string,
  handler: AnyHandler,
  { formerly: storedName = name, ...options }: RouteOptions = {},
): Route {
  return { ...options, name, storedName, step: stepName(storedName), handler };
}
