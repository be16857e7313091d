import { ApiError } from '../api/api-error.js';
import { nearestFirst, shortList } from '../errors/text.js';
import type { SubscribedEvent, WebhookEndpoint } from '../schemas/webhook-endpoint.js';
import {
  addressTest,
  adviceOnQuery,
  apartByQuery,
  IF_DELETED,
  withoutQuery,
  withQuery,
} from './addresses.js';
import { timeOr } from './log-entry.js';
import type { Recovering } from './log-reader.js';
import { PER_PAGE, pagesOf } from './pages.js';
import type { Pace } from './request-rate.js';
import type { SourceSettings } from './source.js';

/**
 * Whether the provider sends webhooks to an address. `enabled`: it does. `disabled`: the provider has
 * disabled the endpoint, and its API cannot enable it again. `missing`: there is no endpoint, or an address has none
 * that is subscribed to an event that the receiver handles. `recreated`: the endpoint was disabled, and a new one was
 * created.
 */
export type EndpointState = 'enabled' | 'disabled' | 'missing' | 'recreated';

/** The webhook endpoints at the receiver's addresses. */
export interface Found {
  /**
   * `disabled` if a disabled endpoint has no replacement. `missing` also if the endpoints of an address are not
   * subscribed to any event that the receiver handles.
   */
  readonly state: EndpointState;
  /** The endpoints that the provider has disabled, including those that have a replacement. */
  readonly disabled: readonly WebhookEndpoint[];
  readonly enabled: readonly WebhookEndpoint[];
  /** The receiver's addresses that have no endpoint. */
  readonly without: readonly string[];
  /** The addresses of other shops, which differ in their query alone. */
  readonly apart: ReadonlySet<string | undefined>;
  /** The scopes of the receiver's addresses; `undefined` without a `secret` function. */
  readonly scopes: ReadonlySet<string> | undefined;
  /** Whether the `secret` function does not know the shop of an address, so that `scopes` lacks its scope. */
  readonly lacksScope: boolean;
  /** The addresses of all endpoints of the account, most like the first of `without` first. */
  readonly others: readonly string[];
}

/** Finds the webhook endpoints of the receiver (specification: Webhook endpoint). */
export async function findEndpoint(
  { client, urls, call, receiver }: SourceSettings,
  pace: Pace,
): Promise<Found> {
  const all: WebhookEndpoint[] = [];
  const options = { ...call, perPage: PER_PAGE, onIssues() {} };
  // Reads all pages, so it never stops while a request runs.
  const pages = pagesOf('webhookEndpoints.list', (page) =>
    pace.run(async () => client.webhookEndpoints.list({ ...options, page })),
  );
  for await (const { items } of pages) all.push(...items);
  const addresses = all.flatMap(({ url }) => url ?? []);
  const each = receiver.findsShop ? await scopesOf(urls, receiver) : undefined;
  const scopes = each && new Set(each.flatMap((scope) => scope ?? []));
  const { foreign, apart } = scopes
    ? await neighboursByScope(all, urls, scopes, receiver)
    : neighboursByQuery(addresses, urls);
  const isOurs = addressTest(urls, foreign);
  const ours = all.filter(({ url }) => isOurs(url));
  const disabled = ours.filter((one) => one.enabled === false);
  const enabled = ours.filter((one) => one.enabled !== false);
  const without = urls.filter((url) => !ours.some((one) => addressTest([url])(one.url)));
  const [wanted = urls[0] ?? ''] = without;
  const others = new Set(addresses.flatMap((address) => withoutQuery(address) ?? []));
  const state = stateOf({ disabled, enabled, without }, urls, receiver);
  return {
    state,
    disabled,
    enabled,
    without,
    apart,
    scopes,
    lacksScope: each?.includes(undefined) ?? false,
    others: nearestFirst(wanted, [...others]),
  };
}

/**
 * Returns the scope of each address; `undefined` for an unknown shop. Throws what the `secret` function throws: without
 * these scopes, every entry would be of another shop.
 */
async function scopesOf(
  urls: readonly string[],
  receiver: Recovering,
): Promise<readonly (string | undefined)[]> {
  return Promise.all(urls.map((url) => receiver.scopeOf(url)));
}

/** The addresses of endpoints that differ from `urls` in their query alone, and are not of the same shop. */
interface Neighbours {
  /** Those whose endpoints are not the receiver's. */
  readonly foreign: ReadonlySet<string | undefined>;
  /** Those of them that are of another shop, so that their entries in the log do not count. */
  readonly apart: ReadonlySet<string | undefined>;
}

function neighboursByQuery(addresses: readonly string[], urls: readonly string[]): Neighbours {
  const apart = apartByQuery(addresses, urls);
  return { foreign: apart, apart };
}

async function neighboursByScope(
  endpoints: readonly WebhookEndpoint[],
  urls: readonly string[],
  scopes: ReadonlySet<string>,
  receiver: Recovering,
): Promise<Neighbours> {
  const isNear = addressTest(urls, new Set(urls.map(withQuery)));
  const foreign = new Set<string | undefined>();
  const apart = new Set<string | undefined>();
  for (const { id, url = '' } of endpoints) {
    const address = withQuery(url);
    if (!isNear(url) || foreign.has(address)) continue;
    // The address of a neighbour must not hold up the others. Its entries in the log are counted as unreadable.
    const scope = await receiver.scopeOf(url).catch((error: unknown) => {
      receiver.onError(error, { id, event: 'webhook endpoint' });
      return undefined;
    });
    if (scope !== undefined && scopes.has(scope)) continue;
    foreign.add(address);
    if (scope !== undefined) apart.add(address);
  }
  return { foreign, apart };
}

/**
 * Returns a message that no endpoint has these addresses, and that lists the account's endpoints. Empty if
 * each address has an endpoint.
 */
export function describeWithout({ without, others }: Pick<Found, 'without' | 'others'>): string {
  if (without.length === 0) return '';
  const onQuery = adviceOnQuery(without, others);
  return (
    `no webhook endpoint of this account has the address ${without.join(' or ')}. ` +
    (onQuery && `${onQuery} ${IF_DELETED} `) +
    (others.length > 0
      ? `The account has these endpoints, the most like it first: ${shortList(others)}.`
      : 'The account has no webhook endpoints.')
  );
}

/**
 * Returns whether orders may have been paid since then without a webhook to any endpoint: an endpoint is
 * disabled, or every endpoint that is subscribed to paid orders was created or changed later, such as by hand in place
 * of a disabled one, or by being enabled again.
 */
export function lacksOrders(found: Found, since: number, receiver: Recovering): boolean {
  if (found.disabled.length > 0) return true;
  const isTelling = paidEvents(found, receiver);
  const telling = found.enabled.filter(({ events = [PAID] }) => events.some(isTelling));
  const isLater = ({ created_at, updated_at }: WebhookEndpoint) =>
    timeOr(created_at, since) > since || timeOr(updated_at, since) > since;
  return telling.length > 0 && telling.every(isLater);
}

/** Returns whether the provider still sends, and retries. A disabled endpoint gets neither. */
export function isSending({ state, disabled }: Pick<Found, 'state' | 'disabled'>): boolean {
  return state === 'enabled' && disabled.length === 0;
}

export const PAID = 'order:paid';

/**
 * Returns a function that says whether an event tells the receiver of paid orders: `order:paid` or, if the endpoints
 * do not get that, any event by which `onPaid` also learns of them.
 */
export function paidEvents(
  { disabled, enabled }: Pick<Found, 'disabled' | 'enabled'>,
  receiver: Recovering,
): (event: string) => boolean {
  const all = [...disabled, ...enabled];
  const hasOthers = all.length > 0 && !all.some(({ events = [PAID] }) => events.includes(PAID));
  return (event) => event === PAID || (hasOthers && receiver.isToldBy(event));
}

function stateOf(
  { disabled, enabled, without }: Pick<Found, 'disabled' | 'enabled' | 'without'>,
  urls: readonly string[],
  receiver: Recovering,
): EndpointState {
  if (disabled.some((one) => !isReplaced(one, enabled))) return 'disabled';
  const telling = enabled.filter(
    ({ events }) => events?.some((one) => receiver.handles(one)) ?? true,
  );
  const isTold = (url: string) => telling.some((one) => addressTest([url])(one.url));
  const areTold = urls.every((url) => isTold(url) || without.includes(url));
  return telling.length > 0 && areTold ? 'enabled' : 'missing';
}

/**
 * Returns whether other endpoints at the same address, query included, are subscribed to all events of this
 * one.
 */
function isReplaced(old: WebhookEndpoint, enabled: readonly WebhookEndpoint[]): boolean {
  // An endpoint without `events` does not say which events it had.
  return (old.events?.length ?? 0) > 0 && untold(old, enabled).length === 0;
}

/** Returns the endpoint's events that no enabled endpoint at its address is subscribed to. */
function untold(
  { url, events = [] }: WebhookEndpoint,
  enabled: readonly WebhookEndpoint[],
): readonly SubscribedEvent[] {
  const address = withQuery(url ?? '');
  const others = enabled.filter((other) => address && withQuery(other.url ?? '') === address);
  return events.filter((event) => !others.some((other) => other.events?.includes(event)));
}

/**
 * Creates a replacement for each disabled endpoint, for the same events, and returns the new state of the
 * endpoints.
 */
export async function recreateEndpoint(
  found: Found,
  settings: SourceSettings,
  pace: Pace,
): Promise<Found> {
  let now = found;
  for (const old of found.disabled) {
    const { url = '' } = old;
    for (let tried = 1; ; tried++) {
      // Two endpoints for the same event would send it twice.
      const events = [...untold(old, now.enabled)];
      if (events.length === 0) break;
      try {
        const create = async () =>
          settings.client.webhookEndpoints.create({ url, events }, settings.call);
        const made = await pace.run(create, { tries: 1 });
        now = { ...now, enabled: [...now.enabled, { ...made, url, events }] };
      } catch (error) {
        await pace.pauseAfter(error, tried);
        // The provider may have created the endpoint despite the error, and two endpoints would send each
        // order twice.
        now = await findEndpoint(settings, pace);
      }
    }
  }
  return { ...now, state: stateOf(now, settings.urls, settings.receiver) };
}

/** Deletes the disabled endpoints that have a replacement. */
export async function deleteDisabled(
  { disabled, enabled }: Found,
  { client, signal, call, receiver }: SourceSettings,
  pace: Pace,
): Promise<void> {
  for (const one of disabled.filter((old) => isReplaced(old, enabled))) {
    try {
      await pace.run(() => client.webhookEndpoints.delete(one.id, call));
    } catch (error) {
      signal?.throwIfAborted();
      // Another recovery has deleted it first.
      if (error instanceof ApiError && error.code === 'not_found') continue;
      // The old endpoint is disabled and sends nothing. The next run tries again to delete it.
      receiver.onError(error, { id: one.id, event: 'webhook endpoint' });
    }
  }
}
