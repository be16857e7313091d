import type { Command } from 'commander';
import { type Finding, type Reconciliation, reconcile } from 'storefront-webhooks/recovery';
import { shortList } from '../errors/text.js';
import { adviceOnQuery, IF_DELETED } from '../recovery/addresses.js';
import { describeRemedies } from '../recovery/remedies.js';
import { toLine } from './columns.js';
import { toCsv } from './csv.js';
import type { Printer } from './printer.js';
import type { Session } from './session.js';
import { addShopFlags, EXPORTS, type ShopFlags, showProgress, withShop } from './shop.js';

interface Flags extends ShopFlags {
  readonly csv: boolean;
}

/** Adds `reconcile`, which reports where the provider and the shop do not agree. */
export function addReconcile(program: Command, session: Session): void {
  const command = program
    .command('reconcile')
    .summary('compare orders, deliveries and goods; changes nothing')
    .description(
      "Compares the provider's orders with what your shop has delivered, with the provider's log and with your store. Reports orders that are paid but not delivered, refunded but not taken back, delivered twice, or delivered but not paid.",
    );
  addShopFlags(command)
    .option('--csv', 'print CSV for a spreadsheet', false)
    .addHelpText(
      'after',
      `
${EXPORTS}
If the file also exports ledger or delivered(orderIds), that decides what was delivered;
otherwise the log and the store do.

The command exits with 0 if everything agrees, and with 1 if something does not, or if an
address has no endpoint that sends. For cron, which has none of your server's variables:
  */15 * * * * cd /srv/shop && node --env-file=.env node_modules/storefront-webhooks/dist/cli.js reconcile … >> /var/log/reconcile.log 2>&1

Example:
  npx storefront-webhooks reconcile --receiver dist/receiver.js --api https://storefront.example \\
    --url https://shop.example/webhooks --since 3d`,
    )
    .action(async (flags: Flags) => session.end((await run(flags, session)) ? 0 : 1));
}

/** Returns whether everything agrees. */
function run(flags: Flags, session: Session): Promise<boolean> {
  const { printer } = session;
  return withShop(flags, session, async (shop, { delivered, ledger }) => {
    const result = await reconcile({
      ...shop,
      ...(delivered && { delivered }),
      ...(ledger && { ledger }),
      onProgress: (progress) => showProgress(progress, printer),
    });
    printer.progress(undefined);
    if (flags.csv) printer.write(toCsv(result.findings));
    else
      for (const finding of result.findings) printer.found(finding, () => line(finding, printer));
    conclude(result, printer);
    if (!delivered && !ledger) {
      printer.note(
        'This compared the log and the store, which do not know what a handler has really done. Export your ledger, or delivered(orderIds), beside the receiver to compare what was delivered.',
      );
    }
    return result.findings.length + result.unreadable === 0 && isSent(result);
  });
}

/** Whether the provider sends to each address. If it does not, nothing shows that later orders will agree. */
function isSent({ endpoint, withoutEndpoint }: Reconciliation): boolean {
  return endpoint === 'enabled' && withoutEndpoint.length === 0;
}

const WHAT = {
  not_delivered: 'paid, not delivered',
  delivered_twice: 'delivered twice',
  not_taken_back: 'not taken back',
  not_paid: 'delivered, not paid',
} as const satisfies Record<Finding['kind'], string>;

function line(finding: Finding, { columns, paint }: Printer): string {
  const { orderId, kind, because = '', times, value, currency = '', updatedAt } = finding;
  const day = updatedAt?.toISOString().slice(5, 10) ?? '';
  const often = times > 1 ? `${times}×` : because;
  return toLine(
    [
      { text: day, width: 5, rank: 2, paint: paint.dim },
      { text: orderId, width: 24, rank: 7 },
      { text: value === undefined ? '' : `${value} ${currency}`, width: 10, rank: 3 },
      { text: WHAT[kind], width: 19, rank: 9, paint: paint.red },
      { text: often, width: 10, rank: 4 },
    ],
    columns,
  );
}

function conclude(result: Reconciliation, printer: Printer): void {
  const { findings, orders, paid, delivered, young, unreadable } = result;
  const { withoutEndpoint, earlierOrders } = result;
  const left = young > 0 ? ` ${young} changed too recently to be judged.` : '';
  printer.note(`${orders} orders, ${paid} paid, ${delivered} delivered.${left}`);
  if (unreadable > 0) {
    printer.note(
      `${unreadable} could not be read: the id, status or e-mail address is missing. Look at them in the provider's dashboard.`,
    );
  }
  if (earlierOrders > 0) {
    printer.note(
      `${earlierOrders} were paid before the provider sent the first order to this address. Nothing shows that they were to be delivered here, so they are not judged.`,
    );
  }
  noteEndpoint(result, printer);
  if (findings.length === 0) {
    if (isSent(result)) printer.note(unreadable > 0 ? 'All others agree.' : 'All agree.');
    return;
  }
  for (const [kind, what] of Object.entries(WHAT)) {
    const count = findings.filter((one) => one.kind === kind).length;
    if (count > 0) printer.note(`${count} ${what}.`);
  }
  if (withoutEndpoint.length > 0) return;
  for (const line of describeRemedies(findings, toCommand)) printer.note(line);
}

function toCommand(option?: string): string {
  return `npx storefront-webhooks recover${option === undefined ? '' : ` --${option}`}`;
}

/** Prints what to fix first. */
function noteEndpoint(
  { endpoint, withoutEndpoint, otherEndpoints }: Reconciliation,
  printer: Printer,
) {
  if (withoutEndpoint.length > 0) {
    const onQuery = adviceOnQuery(withoutEndpoint, otherEndpoints);
    // Another of the addresses has an endpoint.
    const isOne = endpoint !== 'missing';
    const what = isOne ? ': the provider sends nothing there' : ', so this compared the wrong log';
    const toDo = isOne ? 'If the endpoint has not moved, correct --url.' : 'Correct --url first.';
    printer.note(
      `There is no webhook endpoint for ${withoutEndpoint.join(' or ')}${what}. ${onQuery ? `${onQuery} ${IF_DELETED}` : toDo} The account has ${shortList(otherEndpoints) || 'no endpoint'}.`,
    );
  } else if (endpoint === 'disabled') {
    printer.note(
      `The webhook endpoint is disabled, so the provider sends nothing: ${toCommand('apply')} --recreate-endpoint creates a new one.`,
    );
  } else if (endpoint === 'missing') {
    printer.note(
      'The webhook endpoint is subscribed to no event that the receiver has a handler for: add order:paid to its events in the dashboard.',
    );
  }
}
