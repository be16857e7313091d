import type { Command } from 'commander';
import { type Recovered, type Recovery, recover } from 'storefront-webhooks/recovery';
import type { Printer } from './printer.js';
import { adviceOn } from './recover/advice.js';
import { deliveryLine, tableLines } from './recover/lines.js';
import { addCounts, totalByCurrency, totalByOrder } from './recover/totals.js';
import type { Session } from './session.js';
import { addShopFlags, EXPORTS, type ShopFlags, showProgress, withShop } from './shop.js';

interface Flags extends ShopFlags {
  readonly orders?: true;
  readonly recreateEndpoint: boolean;
  readonly queued: boolean;
  readonly apply: boolean;
}

/** `recover`: what a receiver has missed, out of the provider's log. */
export function addRecover(program: Command, session: Session): void {
  const command = program
    .command('recover')
    .summary('bring back what a receiver has missed: nothing is done without --apply')
    .description(
      "Reads the provider's log for what your receiver never answered, and runs it through the same handlers, in this process. What was done is not done again.",
    );
  addShopFlags(command)
    .option('--apply', 'do it, and do not only say what was missed', false)
    .option('--orders', 'compare the paid orders as well, as where an endpoint is disabled')
    .option('--queued', 'run what was put into your queue and is not done, too', false)
    .option('--recreate-endpoint', 'make a disabled endpoint anew; with --apply', false)
    .addHelpText(
      'after',
      `
${EXPORTS}

It ends with 0 where nothing is left, and with 1 where something is.

Example:
  npx storefront-webhooks recover --receiver dist/receiver.js --api https://storefront.example \\
    --url https://shop.example/webhooks --since 3d --apply`,
    )
    .action(async (flags: Flags) => session.end((await run(flags, session)) ? 0 : 1));
}

/** Gives whether nothing is left. */
function run(flags: Flags, session: Session): Promise<boolean> {
  const { printer } = session;
  const { apply, orders, queued, recreateEndpoint } = flags;
  return withShop(flags, session, async (shop) => {
    const deliveries: Recovered[] = [];
    let missed = 0;
    try {
      const recovery = await recover({
        ...{ ...shop, apply, queued, recreateEndpoint },
        ...(orders && { orders }),
        onProgress(progress) {
          const { delivery, step, of = 0 } = progress;
          if (step === 'deliveries') missed = of;
          if (delivery) {
            deliveries.push(delivery);
            printer.found(delivery, () => deliveryLine(delivery, printer));
          }
          showProgress(progress, printer);
        },
      });
      conclude(recovery, printer);
      for (const line of adviceOn(recovery, flags.url, flags)) printer.note(line);
      return recovery.complete && (queued || recovery.log.queued === 0);
    } catch (error) {
      const untried = missed - deliveries.length;
      if (deliveries.length > 0)
        conclude({ complete: false, applied: apply, deliveries, untried }, printer);
      if (untried > 0) {
        printer.note(`${untried} of ${missed} ${untried === 1 ? 'was' : 'were'} not tried.`);
      }
      throw error;
    }
  });
}

/** The table for people; for programs the last line, which has `complete`. */
function conclude(
  {
    complete,
    applied,
    deliveries,
    ...rest
  }: Partial<Recovery> & Pick<Recovery, 'deliveries'> & { readonly untried?: number },
  printer: Printer,
): void {
  const orders = totalByOrder(deliveries);
  const currencies = totalByCurrency(orders);
  printer.found({ complete, applied, ...addCounts(orders), currencies, ...rest }, () =>
    tableLines(orders, currencies, printer),
  );
}
