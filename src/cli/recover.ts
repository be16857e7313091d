import type { Command } from 'commander';
import { type Recovered, type Recovery, recover } from 'storefront-webhooks/recovery';
import type { Printer } from './printer.js';
import { adviceOn } from './recover/advice.js';
import { deliveryLine, tableLines } from './recover/lines.js';
import { addCounts, totalByCurrency, totalByOrder } from './recover/totals.js';
import type { Session } from './session.js';
import { addShopFlags, EXPORTS, type ShopFlags, showProgress, withShop } from './shop.js';

interface Flags extends ShopFlags {
  readonly orders?: boolean;
  readonly recreateEndpoint: boolean;
  readonly earlier: boolean;
  readonly queued: boolean;
  readonly apply: boolean;
}

/** Adds `recover`, which runs the deliveries in the provider's log that a receiver has missed. */
export function addRecover(program: Command, session: Session): void {
  const command = program
    .command('recover')
    .summary('recover the deliveries that a receiver has missed; does nothing without --apply')
    .description(
      "Reads the provider's log for deliveries that your receiver never answered, and runs them through the same handlers, in this process. Completed work is not done again.",
    );
  addShopFlags(command)
    .option('--apply', 'run the missed deliveries; without this, only list them', false)
    .option(
      '--orders',
      'compare the paid orders as well (default: only if an endpoint was disabled)',
    )
    .option('--no-orders', 'use only the log, even if no endpoint has the address')
    .option(
      '--earlier',
      'also run deliveries from before the first answer of your receiver with its store',
      false,
    )
    .option('--queued', 'also run deliveries that were queued and are not done', false)
    .option('--recreate-endpoint', 'replace a disabled endpoint by a new one; needs --apply', false)
    .addHelpText(
      'after',
      `
${EXPORTS}

The command exits with 0 if nothing is left, and with 1 if something is.

Example:
  npx storefront-webhooks recover --receiver dist/receiver.js --api https://storefront.example \\
    --url https://shop.example/webhooks --since 3d --apply`,
    )
    .action(async (flags: Flags) => session.end((await run(flags, session)) ? 0 : 1));
}

/** Returns whether nothing is left. */
function run(flags: Flags, session: Session): Promise<boolean> {
  const { printer } = session;
  const { apply, orders, earlier, queued, recreateEndpoint } = flags;
  return withShop(flags, session, async (shop) => {
    const deliveries: Recovered[] = [];
    let missed = 0;
    try {
      const recovery = await recover({
        ...{ ...shop, apply, earlier, queued, recreateEndpoint },
        ...(orders !== undefined && { orders }),
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

/** Prints the table in a terminal, otherwise the last line of JSON, which has `complete`. */
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
