import { parseAddress } from '../address.js';
import { ApiError } from '../api/api-error.js';
import type { WebhookEndpoint } from '../schemas/webhook-endpoint.js';
import { addressTest, withoutQuery } from './addresses.js';
import { LATER, type Pace } from './pace.js';
import { PER_PAGE, pagesOf } from './paging.js';
import type { SourceSettings } from './source.js';

/**
 * Whether the provider sends to an address: not to a `disabled` endpoint, which its API cannot enable again, nor
 * where it is `missing`. `recreated`: it was disabled, and made anew.
 */
export type EndpointState = 'enabled' | 'disabled' | 'missing' | 'recreated';

/** What there is for the addresses of the receiver. */
export interface Found {
  /** `disabled` where one is that no other stands in for. */
  readonly state: EndpointState;
  /** Those that the provider has disabled, also where another one was made since. */
  readonly disabled: readonly WebhookEndpoint[];
  readonly enabled: readonly WebhookEndpoint[];
  /** The addresses for which there is none. */
  readonly without: readonly string[];
}

/** Looks for the webhook endpoints of the receiver (specification: Webhook endpoint). */
export async function findEndpoint(
  { client, urls, signal }: SourceSettings,
  pace: Pace,
): Promise<Found> {
  const isOurs = addressTest(urls);
  const disabled: WebhookEndpoint[] = [];
  const enabled: WebhookEndpoint[] = [];
  const options = { perPage: PER_PAGE, onIssues() {}, ...(signal && { signal }) };
  const pages = pagesOf((page) =>
    pace.run(async () => client.webhookEndpoints.list({ ...options, page })),
  );
  for await (const { items } of pages) {
    for (const endpoint of items) {
      if (!isOurs(endpoint.url)) continue;
      (endpoint.enabled === false ? disabled : enabled).push(endpoint);
    }
  }
  const without = urls.filter((url) => {
    const isHere = addressTest([url]);
    return ![...disabled, ...enabled].some((one) => isHere(one.url));
  });
  return { state: stateOf(disabled, enabled), disabled, enabled, without };
}

function stateOf(
  disabled: readonly WebhookEndpoint[],
  enabled: readonly WebhookEndpoint[],
): EndpointState {
  if (disabled.some((one) => !isReplaced(one, enabled))) return 'disabled';
  return enabled.length > 0 ? 'enabled' : 'missing';
}

/** Whether others are told of all that this one was told of, at the same address with its query. */
function isReplaced(old: WebhookEndpoint, enabled: readonly WebhookEndpoint[]): boolean {
  // Of which events it was told is not known, where it does not say.
  return (old.events?.length ?? 0) > 0 && untold(old, enabled).length === 0;
}

/** Of which events no other one is told there. */
function untold(
  { url, events = [] }: WebhookEndpoint,
  enabled: readonly WebhookEndpoint[],
): readonly string[] {
  const address = addressOf(url);
  const others = enabled.filter((other) => address && addressOf(other.url) === address);
  return events.filter((event) => !others.some((other) => other.events?.includes(event)));
}

function addressOf(url: string | undefined): string | undefined {
  const address = parseAddress(url ?? '');
  return address && withoutQuery(address.href) + address.search;
}

const MAX_CREATIONS = 3;

/** Makes anew what is disabled, for the same events, and gives what there is then. */
export async function recreateEndpoint(
  found: Found,
  settings: SourceSettings,
  pace: Pace,
): Promise<Found> {
  const options = settings.signal ? { signal: settings.signal } : {};
  let now = found;
  for (const old of found.disabled) {
    const { url = '' } = old;
    for (let tried = 1; ; tried++) {
      // Two that are told of the same would deliver it twice.
      const events = [...untold(old, now.enabled)];
      if (events.length === 0) break;
      try {
        const create = async () =>
          settings.client.webhookEndpoints.create({ url, events }, options);
        const made = await pace.run(create, 1);
        now = { ...now, enabled: [...now.enabled, { ...made, url, events }] };
      } catch (error) {
        const isLater = error instanceof ApiError && LATER.includes(error.code);
        if (!isLater || tried === MAX_CREATIONS) throw error;
        // It may have been made all the same: two would send each order twice.
        now = await findEndpoint(settings, pace);
      }
    }
  }
  return { ...now, state: stateOf(now.disabled, now.enabled) };
}

/** Deletes those that were disabled, and have another one in their place. */
export async function deleteDisabled(
  { disabled, enabled }: Found,
  { client, signal, receiver }: SourceSettings,
  pace: Pace,
): Promise<void> {
  for (const one of disabled.filter((old) => isReplaced(old, enabled))) {
    try {
      await pace.run(() => client.webhookEndpoints.delete(one.id, signal ? { signal } : {}));
    } catch (error) {
      signal?.throwIfAborted();
      // Another recovery was faster.
      if (error instanceof ApiError && error.code === 'not_found') continue;
      // It is disabled, so what was recovered stays so, and the next run tries again.
      receiver.onError(error, { id: one.id, event: 'webhook endpoint' });
    }
  }
}
