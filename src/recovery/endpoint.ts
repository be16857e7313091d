import type { WebhookEndpoint } from '../schemas/webhook-endpoint.js';
import { addressTest } from './addresses.js';
import type { Pace } from './pace.js';
import { PER_PAGE, pagesOf } from './paging.js';
import type { SourceSettings } from './source.js';

/**
 * Whether the provider sends to an address: not to a `disabled` endpoint, which its API cannot enable again, nor
 * where it is `missing`. `recreated`: it was disabled, and made anew.
 */
export type EndpointState = 'enabled' | 'disabled' | 'missing' | 'recreated';

/** What there is for the address of the receiver. */
interface Found {
  readonly state: EndpointState;
  /** One that the provider has disabled, perhaps beside one that was made anew. */
  readonly disabled: WebhookEndpoint | undefined;
}

/** Looks for the webhook endpoint of the receiver (specification: Webhook endpoint). */
export async function findEndpoint(
  { client, urls, signal }: SourceSettings,
  pace: Pace,
): Promise<Found> {
  const isOurs = addressTest(urls);
  let isEnabled = false;
  let disabled: WebhookEndpoint | undefined;
  const options = { perPage: PER_PAGE, onIssues() {}, ...(signal && { signal }) };
  const pages = pagesOf((page) =>
    pace.run(async () => client.webhookEndpoints.list({ ...options, page })),
  );
  for await (const { items } of pages) {
    for (const endpoint of items) {
      if (!isOurs(endpoint.url)) continue;
      if (endpoint.enabled === false) disabled = endpoint;
      else isEnabled = true;
    }
  }
  if (isEnabled) return { state: 'enabled', disabled };
  return { state: disabled ? 'disabled' : 'missing', disabled };
}

/** Makes an endpoint anew where it is disabled, for the same events. */
export async function recreateEndpoint(
  { state, disabled }: Found,
  { client, signal }: SourceSettings,
  pace: Pace,
): Promise<void> {
  if (state !== 'disabled' || !disabled) return;
  const { url = '', events = [] } = disabled;
  const options = signal ? { signal } : {};
  await pace.run(() => client.webhookEndpoints.create({ url, events: [...events] }, options));
}

/** Deletes the one that was disabled. */
export async function deleteDisabled(
  { disabled }: Found,
  { client, signal }: SourceSettings,
  pace: Pace,
): Promise<void> {
  if (!disabled) return;
  await pace.run(() => client.webhookEndpoints.delete(disabled.id, signal ? { signal } : {}));
}
