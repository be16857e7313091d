import type { RecoveredOutcome, Recovery } from 'storefront-webhooks/recovery';
import { shortList } from '../../errors/text.js';
import { adviceOnQuery, IF_DELETED } from '../../recovery/addresses.js';

/** Returns notes on what is left, and what to do about it. */
export function adviceOn(
  recovery: Recovery,
  urls: readonly string[],
  { recreateEndpoint = false } = {},
): string[] {
  const { deliveries, endpoint, withoutEndpoint, log, applied, complete } = recovery;
  const { otherEndpoints, ordersForbidden } = recovery;
  const counts = new Map<RecoveredOutcome, number>();
  for (const { outcome } of deliveries) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  const onQuery = adviceOnQuery(withoutEndpoint, otherEndpoints);
  const behind = deliveries.some(({ reason }) => reason === 'queued') ? 0 : log.queued;
  return [
    ...(endpoint === 'disabled' && applied && recreateEndpoint
      ? [NOT_RECREATED]
      : endpoint === 'missing' && withoutEndpoint.length === 0
        ? [UNTOLD]
        : ENDPOINT[endpoint](urls.join(' or '), complete, onQuery)),
    ...(withoutEndpoint.length < urls.length
      ? withoutEndpoint.map((url) => withoutOne(url, adviceOnQuery([url], otherEndpoints)))
      : []),
    ...(withoutEndpoint.length > 0 && otherEndpoints.length > 0
      ? [`The account has these endpoints, the most like it first: ${shortList(otherEndpoints)}.`]
      : []),
    ...(ordersForbidden ? [FORBIDDEN] : []),
    ...Object.entries(LEFT).flatMap(([outcome, toText]) => {
      const count = counts.get(outcome as RecoveredOutcome) ?? 0;
      return count === 0 ? [] : `${count} ${outcome}: ${toText}`;
    }),
    ...(log.unreadable > 0
      ? [
          `${log.unreadable} unreadable: not a valid log entry or order, or the unwrap, keyBy or secret function of your receiver threw, as stderr reports. Look at them in the provider's dashboard.`,
        ]
      : []),
    ...(log.unknownShop > 0
      ? [
          `${log.unknownShop} for no shop of this receiver: its secret function returns no secret for their address, or another scope than for --url. Add the shop to the function, give --url the query that names it, or leave the address out of --url.`,
        ]
      : []),
    ...(log.waiting > 0 && endpoint !== 'enabled'
      ? [
          `${log.waiting} too young to be judged, and the provider does not retry them at a disabled endpoint. Run this again in some minutes.`,
        ]
      : []),
    ...(log.waiting > 0 && endpoint === 'enabled'
      ? [
          `${log.waiting} not over yet: the provider has just sent them, or will retry them by itself. If its clock differs, as in a sandbox with --clock manual, give its time: --now <date>.`,
        ]
      : []),
    ...(behind > 0
      ? [
          `${behind} queued and not done: the worker of your queue is behind, the queue has lost them, or they are dead. dead list shows the dead ones. To run the others here, add --queued.`,
        ]
      : []),
    ...(deliveries.length + log.waiting + log.queued + log.unreadable + log.unknownShop === 0 &&
    withoutEndpoint.length === 0 &&
    !ordersForbidden &&
    endpoint !== 'missing'
      ? ['Nothing was missed.']
      : []),
    ...(counts.has('listed') && !applied ? ['Nothing was done: add --apply.'] : []),
    ...(complete && applied && deliveries.length > 0 && behind === 0 ? ['Nothing is left.'] : []),
  ];
}

const NOT_RECREATED =
  'THE WEBHOOK ENDPOINT IS STILL DISABLED: it does not list its events, so no new one could be created. Create it in the dashboard, and delete the old one.';

const UNTOLD =
  'THE WEBHOOK ENDPOINT IS SUBSCRIBED TO NO EVENT that the receiver has a handler for: add order:paid to its events in the dashboard, and run this again with --orders.';

const FORBIDDEN =
  'The token may not read orders: orders that were paid while no endpoint got them are not in the log, and may be missing here. Run this again with a token that may read orders. To use only the log, add --no-orders.';

function withoutOne(url: string, onQuery: string): string {
  return `There is no webhook endpoint for ${url}: the provider sends nothing there. ${onQuery || 'Correct the address.'} If the endpoint was deleted, create it again in the dashboard and add --orders. If you have moved away from the address, add --no-orders.`;
}

const ENDPOINT: Readonly<
  Record<
    Recovery['endpoint'],
    (url: string, complete: boolean, onQuery: string) => readonly string[]
  >
> = {
  enabled: () => [],
  disabled: (url) => [
    `THE WEBHOOK ENDPOINT IS DISABLED: the provider sends nothing to ${url}, and its API cannot enable it again. Add --apply --recreate-endpoint to create a new one.`,
  ],
  missing: (url, _, onQuery) => [
    `THERE IS NO WEBHOOK ENDPOINT for ${url}: the provider sends nothing there, and --apply does nothing for it without --orders or --no-orders. ${onQuery ? `${onQuery} ${IF_DELETED}` : 'Correct --url, or create the endpoint in the dashboard.'}`,
  ],
  recreated: (url, complete) => [
    `The webhook endpoint for ${url} was disabled, and a new one has been created.${complete ? '' : ' Run this again until nothing is left.'}`,
  ],
};

/** Advice for each outcome, in the order in which an operator should read it. */
const LEFT: Partial<Readonly<Record<RecoveredOutcome, string>>> = {
  failed:
    'a handler or another function of yours threw, or the provider failed. stderr says why. Fix the cause, and run this again.',
  held: 'an earlier change of the same order has failed. They run after that one is done.',
  parked:
    'waiting for an operator. npx storefront-webhooks dead list <store> shows them, or your onInvalid has them.',
  rejected: 'the payload in the log is not valid for its event. stderr names the fields.',
  unsafe:
    "paid, but not in the log, so a webhook that arrives later would deliver twice; or edited, and perhaps handled in their earlier form; or copies of handled deliveries, under other ids. Deliver in .onPaid(handler), and give each other handler of order:paid a name and a key per order: { name: 'mail', oncePer: (order) => order.id }. If either is new, the store knows no completed orders under it: first mark delivered orders with receiver.markDone('onPaid', id). Then run this again. If the secret is a function and the orders are not in the log, give one --url at a time.",
  busy: 'another process is handling them. Run this again.',
  unavailable: 'the store could not be reached. stderr says why. Run this again.',
  earlier:
    "from before the first answer that this receiver gave with this store, as far as the log shows. Earlier code, another address, a receiver with another secret or scope, or a lost store may have delivered them. Check that --receiver and its store belong to --url. After a migration, start at its date: --since <date>. In a new or restored store, mark delivered orders with receiver.markDone('onPaid', id), or with the name of the handler. Then --earlier runs the others.",
  ignored: 'no handler is for them, as for an order that is not paid, so there is nothing to do.',
  gone: 'the provider no longer has them. Look for the orders in the dashboard.',
};
