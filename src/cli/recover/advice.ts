import type { RecoveredOutcome, Recovery } from 'storefront-webhooks/recovery';

/** What is left, and what to do about it. */
export function adviceOn(
  { deliveries, endpoint, withoutEndpoint, log, applied, complete }: Recovery,
  urls: readonly string[],
  { recreateEndpoint = false } = {},
): string[] {
  const counts = new Map<RecoveredOutcome, number>();
  for (const { outcome } of deliveries) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  const behind = deliveries.some(({ reason }) => reason === 'queued') ? 0 : log.queued;
  return [
    ...(endpoint === 'disabled' && applied && recreateEndpoint
      ? [NOT_RECREATED]
      : ENDPOINT[endpoint](urls.join(' or '), complete)),
    ...(withoutEndpoint.length < urls.length ? withoutEndpoint.map(withoutOne) : []),
    ...Object.entries(LEFT).flatMap(([outcome, toText]) => {
      const count = counts.get(outcome as RecoveredOutcome) ?? 0;
      return count === 0 ? [] : `${count} ${outcome}: ${toText}`;
    }),
    ...(log.unreadable > 0
      ? [
          `${log.unreadable} unreadable: no entry of a log, or no order, or your receiver's unwrap, keyBy or secret function threw at it, as stderr says. Look in the dashboard.`,
        ]
      : []),
    ...(log.unknownShop > 0
      ? [
          `${log.unknownShop} for no shop of this receiver: its secret function gives no secret for their address. Name the shop there, or leave its address out of --url.`,
        ]
      : []),
    ...(log.edited > 0
      ? [`${log.edited} edited in the log since they were handled: left as they are.`]
      : []),
    ...(log.waiting > 0 && endpoint !== 'enabled'
      ? [
          `${log.waiting} too young to be judged, and a disabled endpoint is not sent them again. Run this again in some minutes.`,
        ]
      : []),
    ...(log.waiting > 0 && endpoint === 'enabled'
      ? [
          `${log.waiting} not over yet: the provider has just sent them, or sends them again by itself. Where it keeps another time, as a sandbox with --clock manual, say which: --now <date>.`,
        ]
      : []),
    ...(behind > 0
      ? [
          `${behind} queued and not done: the worker of your queue is behind, the queue has lost them, or they are dead: dead list shows these. To run the others here, add --queued.`,
        ]
      : []),
    ...(deliveries.length + log.waiting + log.queued + log.unreadable + log.unknownShop === 0
      ? ['Nothing was missed.']
      : []),
    ...(counts.has('listed') && !applied ? ['Nothing was done: add --apply.'] : []),
    ...(complete && applied && deliveries.length > 0 && behind === 0 ? ['Nothing is left.'] : []),
  ];
}

const NOT_RECREATED =
  'THE WEBHOOK ENDPOINT IS STILL DISABLED: it does not say for which events it was, so it could not be made anew. Create it in the dashboard, and delete the old one.';

function withoutOne(url: string): string {
  return `There is no webhook endpoint for ${url}: the provider sends nothing there. Where you have not moved from it, create one in the dashboard, and add --orders.`;
}

const ENDPOINT: Readonly<
  Record<Recovery['endpoint'], (url: string, complete: boolean) => readonly string[]>
> = {
  enabled: () => [],
  disabled: (url) => [
    `THE WEBHOOK ENDPOINT IS DISABLED: the provider sends nothing to ${url}, and no call of its API enables it again. Add --apply --recreate-endpoint, which makes it anew.`,
  ],
  missing: (url) => [
    `THERE IS NO WEBHOOK ENDPOINT for ${url}: the provider sends nothing there. Create it in the dashboard, or correct --url.`,
  ],
  recreated: (url, complete) => [
    `The webhook endpoint for ${url} was disabled and is made anew.${complete ? '' : ' The old one is deleted by the run that leaves nothing.'}`,
  ],
};

/** In the order in which a person should read them. */
const LEFT: Partial<Readonly<Record<RecoveredOutcome, string>>> = {
  failed:
    'a handler threw, or another function of yours, or the provider failed at it. stderr says why; mend it, and run this again.',
  held: 'an earlier change of the same order has failed. They run once that one is done.',
  parked:
    'kept for a person. npx storefront-webhooks dead list <store> shows them, or your onInvalid has them.',
  rejected: 'what the log has does not fit its event. stderr names the fields.',
  unsafe:
    "paid, and the log does not tell of them, so a webhook that comes later would deliver twice. Give the handler a name of its own per order: .on('order:paid', deliver, { name: 'deliver', oncePer: (order) => order.id }). Under an oncePer that it gets only now it has done nothing yet: mark what was delivered by receiver.markDone('deliver', id) first. Then run this again.",
  busy: 'being handled elsewhere. Run this again.',
  unavailable: 'the store could not be reached. stderr says why; run this again.',
  ignored: 'no handler is for them, so there is nothing to do.',
  gone: 'the provider has them no more. Look for the orders in the dashboard.',
};
