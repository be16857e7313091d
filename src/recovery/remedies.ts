/**
 * How to recover an order that is not delivered. `recover`: `recover()`. `orders`, `queued`, `earlier`:
 * `recover()` with this option. `oncePer`: `recover()`, after you deliver in `onPaid()` and give each other
 * handler of `order:paid` an `oncePer`; until then, the order is `unsafe`. `dead`: `npx storefront-webhooks dead`.
 * `byHand`: the receiver has answered its delivery, so `recover()` does not run it again. Find out why its handler
 * delivered nothing, or why no handler ran, and deliver it yourself.
 */
export type Remedy = 'recover' | 'orders' | 'queued' | 'earlier' | 'oncePer' | 'dead' | 'byHand';

type Recover = (option?: 'orders' | 'queued' | 'earlier') => string;

const SENTENCES: Readonly<Record<Remedy, (count: string, recover: Recover) => string>> = {
  recover: (count, recover) => `${count}: ${recover()} runs the missed deliveries.`,
  orders: (count, recover) => `${count} that the log does not mention: use ${recover('orders')}.`,
  queued: (count, recover) =>
    `${count}, queued but not done by the worker: ${recover('queued')} runs the deliveries that the queue has lost.`,
  earlier: (count, recover) =>
    `${count}, from before the first answer that this receiver and its store know of: something else may have delivered ` +
    `them. Mark the delivered orders with receiver.markDone(), then ${recover('earlier')} runs the others.`,
  oncePer: (count, recover) =>
    `${count}, which a later webhook would deliver again: deliver in receiver.onPaid(), give each other handler of order:paid ` +
    `an oncePer, and mark what was delivered with receiver.markDone(). Then ${recover('orders')} runs the others.`,
  dead: (count) => `${count}: npx storefront-webhooks dead list shows what waits for an operator.`,
  byHand: (count, recover) =>
    `${count}, whose delivery the receiver has answered, so that ${recover()} does not run it again: find out why its handler ` +
    'delivered nothing, or why no handler ran, and deliver by hand.',
};

/**
 * Returns how to recover orders that are not delivered: a sentence for each remedy.
 *
 * @param recover - Returns the command or the function call with an option.
 */
export function describeRemedies(
  findings: readonly { readonly remedy: Remedy | undefined }[],
  recover: Recover,
): string[] {
  return Object.entries(SENTENCES).flatMap(([remedy, sentence]) => {
    const count = findings.filter((one) => one.remedy === remedy).length;
    return count === 0 ? [] : sentence(count === 1 ? '1 order' : `${count} orders`, recover);
  });
}
