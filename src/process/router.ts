import { UsageError } from '../errors.js';
import { didYouMean } from '../report/text.js';
import { nameType } from '../request/bytes.js';
import type { Delivery } from '../request/delivery.js';
import type { WebhookEvent, WhenInfo } from './handler.js';
import { stepName } from './handler-event.js';

/** A handler as the router keeps it: the types of `.on` see to it that it is given the payloads it expects. */
export type AnyHandler = (event: WebhookEvent<string, unknown>) => unknown;

/** An `oncePer` as the router keeps it. */
export type AnyKey = (payload: unknown) => string;

/** A `when` as the router keeps it: nobody has seen yet what it gives. */
export type AnyWhen = (payload: unknown, info: WhenInfo) => unknown;

/** A handler as it is run. */
export interface Route {
  readonly name: string;
  /** The name under which is stored what it has done: the first that it had. */
  readonly storedName: string;
  /** The name of the step of a delivery that is complete once it has run. */
  readonly step: string;
  readonly handler: AnyHandler;
  readonly when?: AnyWhen | undefined;
  readonly oncePer?: AnyKey | undefined;
  readonly skipOlder?: boolean | undefined;
}

/** The options of a handler as the router takes them. */
export interface RouteOptions {
  readonly name?: string | undefined;
  readonly formerly?: string | undefined;
  readonly when?: AnyWhen | undefined;
  readonly oncePer?: AnyKey | undefined;
  readonly skipOlder?: boolean | undefined;
}

const OPTIONS: readonly string[] = [
  'name',
  'formerly',
  'when',
  'oncePer',
  'skipOlder',
] satisfies (keyof RouteOptions)[];
const ONLY_ONE = 'There can be only one: let it do both.';
const NAME_IT =
  'The progress of each is stored under its name, so give this one a name of its own: ' +
  ".on(…, handler, { name: 'something-else' }).";

/** From event names to handlers. Sets and Maps throughout: an event may be named `constructor`. */
export class Router {
  readonly #routes: ReadonlyMap<string, Route[]>;
  readonly #names = new Set<string>();
  #unknown: Route | undefined;
  #invalid: Route | undefined;
  #inUse = false;

  /** @param events - The names of the known events. */
  constructor(events: Iterable<string>) {
    this.#routes = new Map(Array.from(events, (event) => [event, []]));
  }

  /** @throws {UsageError} `handler_invalid`, because a misspelled `oncePer` would have an order delivered twice. */
  checkOptions(options: unknown): void {
    const isObject = typeof options === 'object' && options !== null;
    const unknown = isObject ? Object.keys(options).find((name) => !OPTIONS.includes(name)) : '';
    if (unknown === undefined) return;
    const given = isObject
      ? `no option ${JSON.stringify(unknown)}`
      : `no ${nameType(options)} as options`;
    throw new UsageError(
      'handler_invalid',
      `.on() takes ${given}. ${isObject ? didYouMean(unknown, OPTIONS) : ''}There are { ${OPTIONS.join(', ')} }.`,
    );
  }

  /** Adds one handler for every known event that any of the patterns covers. */
  on(
    patterns: readonly string[],
    handler: AnyHandler,
    { name, formerly, when, oncePer, skipOlder }: RouteOptions,
  ): void {
    if (patterns.length === 0) {
      throw new UsageError('handler_invalid', '.on() was given no event: name at least one.');
    }
    for (const pattern of patterns) this.#checkPattern(pattern);
    for (const [option, text] of Object.entries({ name, formerly })) {
      if (text === undefined || (typeof text === 'string' && text !== '')) continue;
      const message = `The ${option} of a handler has to be a text, not empty, and a single one.`;
      throw new UsageError('handler_invalid', message);
    }
    if (formerly !== undefined && name === undefined) {
      throw new UsageError(
        'handler_invalid',
        'A handler that has no name cannot have had another.',
      );
    }
    if (when !== undefined && typeof when !== 'function') {
      throw new UsageError(
        'handler_invalid',
        'when has to be a function of the payload that gives true or false, such as isPaid.',
      );
    }
    if (oncePer !== undefined && typeof oncePer !== 'function') {
      throw new UsageError(
        'handler_invalid',
        'oncePer has to be a function of the payload, such as (order) => order.id.',
      );
    }
    const family = patterns.find((pattern) => !this.#routes.has(pattern));
    if (oncePer && family !== undefined) {
      throw new UsageError(
        'handler_invalid',
        `oncePer needs exact event names, and not '${family}', which a new event would join by itself. ` +
          'List those in which the handler does the same thing: ' +
          "['order:paid', 'order:updated'].",
      );
    }
    if (oncePer && name === undefined) {
      const [pattern = ''] = patterns;
      throw new UsageError(
        'handler_invalid',
        'oncePer needs a name, under which is remembered for ever what is done: .on(…, handler, ' +
          "{ name: 'deliver', oncePer: … }). Where it ran without a name before, add " +
          `formerly: '${pattern}', or all that it has done is done once more.`,
      );
    }
    if (skipOlder !== undefined) checkSkipOlder(skipOlder, { name, oncePer, patterns });
    for (const taken of name === undefined ? new Set(patterns) : new Set([name, formerly ?? name]))
      this.#take(taken, handler, NAME_IT);
    for (const [event, routes] of this.#routes) {
      const pattern = patterns.find((candidate) => covers(candidate, event));
      if (pattern !== undefined)
        routes.push(toRoute(name ?? pattern, handler, { formerly, when, oncePer, skipOlder }));
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

  /** The events that there are handlers for, in words. */
  get handled(): string {
    const events = [...this.#routes].flatMap(([event, { length }]) => (length > 0 ? event : []));
    const all = events.length === this.#routes.size ? ['every known event'] : events;
    return [...all, ...(this.#unknown ? ['unknown events'] : [])].join(', ');
  }

  /** The handlers for a delivery. From the first one on, no handler can be added. */
  routesFor({ kind, event }: Delivery): readonly Route[] {
    this.#inUse = true;
    if (kind === 'known') return this.#routes.get(event) ?? [];
    const route = kind === 'unknown' ? this.#unknown : this.#invalid;
    return route ? [route] : [];
  }

  /** Whether there are handlers for an event, and each of them runs once per key of its own. */
  isOncePer(event: string): boolean {
    const routes = this.#routes.get(event) ?? [];
    return routes.length > 0 && routes.every(({ oncePer }) => oncePer);
  }

  /**
   * The handler of a name, which has to run once per key.
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
        `With oncePer, there are: ${names.join(', ') || 'none'}.`,
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
        'Add your own with createReceiver({ events: { name: schema } }), or handle names nobody knows with .onUnknown().',
    );
  }

  #take(name: string, handler: unknown, hint: string): void {
    if (this.#inUse) {
      throw new UsageError(
        'registered_late',
        `The handler "${name}" was registered after the first delivery, which it would have missed. ` +
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

function checkSkipOlder(
  skipOlder: unknown,
  {
    name,
    oncePer,
    patterns,
  }: Pick<RouteOptions, 'name' | 'oncePer'> & { patterns: readonly string[] },
): void {
  if (typeof skipOlder !== 'boolean') {
    throw new UsageError('handler_invalid', 'skipOlder has to be true or false.');
  }
  if (skipOlder && oncePer) {
    throw new UsageError(
      'handler_invalid',
      'skipOlder does not go with oncePer: what is done once per key is not run for a newer state. Take one away.',
    );
  }
  if (skipOlder && name === undefined && patterns.length > 1) {
    throw new UsageError(
      'handler_invalid',
      'skipOlder with several patterns needs a name, under which is remembered what it has seen: ' +
        ".on(…, handler, { name: 'mirror', skipOlder: true }).",
    );
  }
}

function toRoute(
  name: string,
  handler: AnyHandler,
  { formerly: storedName = name, when, oncePer, skipOlder }: RouteOptions = {},
): Route {
  return { name, storedName, step: stepName(storedName), handler, when, oncePer, skipOlder };
}
