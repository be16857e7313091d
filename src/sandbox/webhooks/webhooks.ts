import type { Account } from '../state/account.js';
import type { KeptWebhookLog } from '../state/kinds.js';
import type { Change, Market } from '../trade/market.js';
import { Destinations } from './destinations.js';
import { DYNAMIC_CALL } from './dynamic-call.js';
import { openLog } from './logs.js';
import { Sending, type WebhookSettings } from './sender.js';

export interface Webhooks {
  /** The market of the account, with its outbox and its supplier. */
  readonly market: Market;
  /** Stops sending. Due webhooks are sent when the account is opened again. */
  close(): Promise<void>;
}

/** Opens the webhooks of an account, and sends those that are due according to its logs. */
export function openWebhooks(
  place: Omit<Market, 'outbox' | 'supplier'>,
  settings: WebhookSettings = {},
): Webhooks {
  const { account } = place;
  const send = (webhook: Parameters<typeof openLog>[1]) => {
    const log = openLog(place, webhook);
    account.afterwards(() => sending.send(log));
  };
  const market: Market = {
    ...place,
    outbox: {
      announce(change) {
        for (const to of receiversOf(account, change)) {
          send({ event: change.event, payload: change.payload, ...to });
        }
      },
      takes: (url) => destinations.takes(url),
      idle: () => sending.idle(),
    },
    supplier: {
      supply({ shown }, { dynamic_url }) {
        if (dynamic_url === null) return;
        const payload = { ...shown };
        send({ event: DYNAMIC_CALL, url: dynamic_url, payload, endpoint_id: null });
      },
    },
  };
  const destinations = new Destinations(settings.allowHosts, settings.lookup);
  const sending = new Sending(market, destinations, settings);
  sending.resume();
  return { market, close: () => sending.close() };
}

/** Returns the receivers of a change: each enabled endpoint that has subscribed, and the order's own URLs. */
function receiversOf(
  { webhookEndpoints }: Account,
  { event, urls }: Change,
): Pick<KeptWebhookLog, 'url' | 'endpoint_id'>[] {
  const subscribed = [...webhookEndpoints]
    .filter(({ enabled, events }) => enabled && events.includes(event))
    // The oldest first.
    .reverse();
  return [
    ...subscribed.map(({ id, url }) => ({ url, endpoint_id: id })),
    ...urls.map((url) => ({ url, endpoint_id: null })),
  ];
}
