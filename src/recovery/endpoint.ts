import { parseAddress } from '../address.js';
import { ApiError } from '../api/api-error.js';
import type { WebhookEndpoint } from '../schemas/webhook-endpoint.js';
import { addressTest } from './addresses.js';
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
  return { state: stateOf(disabled, enabled), disabled, enabled };
}

function stateOf(
  disabled: readonly WebhookEndpoint[],
  enabled: readonly WebhookEndpoint[],
): EndpointState {
  if (disabled.some((one) => !isReplaced(one, enabled))) return 'disabled';
  return enabled.length > 0 ? 'enabled' : 'missing';
}

/** Whether another one is told of all that this one was told of, at the same address with its query. */
function isReplaced(
  { url, events }: WebhookEndpoint,
  enabled: readonly WebhookEndpoint[],
): boolean {
  const address = addressOf(url);
  // Of which events it was told is not known, where it does not say.
  if (address === undefined || !events || events.length === 0) return false;
  return enabled.some(
    (other) =>
      addressOf(other.url) === address && events.every((one) => other.events?.includes(one)),
  );
}

function addressOf(url: string | undefined): string | undefined {
  return parseAddress(url ?? '')?.href;
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
  for (const { url = '', events = [], ...old } of found.disabled) {
    const isOpen = () => !isReplaced({ url, events, ...old }, now.enabled);
    for (let tried = 1; events.length > 0 && isOpen(); tried++) {
      try {
        const create = async () =>
          settings.client.webhookEndpoints.create({ url, events: [...events] }, options);
        const made = await pace.run(create, 1);
        now = { ...now, enabled: [...now.enabled, { ...made, url, events: [...events] }] };
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
  { client, signal }: SourceSettings,
  pace: Pace,
): Promise<void> {
  for (const one of disabled.filter((old) => isReplaced(old, enabled))) {
    try {
      await pace.run(() => client.webhookEndpoints.delete(one.id, signal ? { signal } : {}));
    } catch (error) {
      // Another recovery was faster.
      if (!(error instanceof ApiError && error.code === 'not_found')) throw error;
    }
  }
}
