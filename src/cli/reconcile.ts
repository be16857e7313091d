import type { Command } from 'commander';
import { type Finding, type Reconciliation, reconcile } from 'storefront-webhooks/recovery';
import { toLine } from './columns.js';
import type { Printer } from './printer.js';
import type { Session } from './session.js';
import { addShopFlags, EXPORTS, type ShopFlags, showProgress, withShop } from './shop.js';

interface Flags extends ShopFlags {
  readonly csv: boolean;
}

/** `reconcile`: where the provider and the shop do not agree. */
export function addReconcile(program: Command, session: Session): void {
  const command = program
    .command('reconcile')
    .summary('compare orders, deliveries and goods; changes nothing')
    .description(
      "Compares the provider's orders with what your shop has delivered, with the provider's log and with your store: paid and not delivered, refunded and not taken back, delivered twice, delivered and not paid.",
    );
  addShopFlags(command)
    .option('--csv', 'print a table for a spreadsheet', false)
    .addHelpText(
      'after',
      `
${EXPORTS}
Where it also exports ledger or delivered(orderIds), that says what went out; else the log
and the store do.

It ends with 0 where all agree, and with 1 where something does not. For cron:
  */15 * * * * cd /srv/shop && npx storefront-webhooks reconcile …

Example:
  npx storefront-webhooks reconcile --receiver dist/receiver.js --api https://storefront.example \\
    --url https://shop.example/webhooks --since 3d`,
    )
    .action(async (flags: Flags) => session.end((await run(flags, session)) ? 0 : 1));
}

/** Gives whether all agree. */
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
        'Went by the log and the store, which do not know what a handler has really done. Export your ledger, or delivered(orderIds), beside the receiver, and it is asked.',
      );
    }
    return result.findings.length + result.unreadable === 0;
  });
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

function conclude(
  { findings, orders, paid, delivered, young, unreadable }: Reconciliation,
  printer: Printer,
): void {
  const left = young > 0 ? ` ${young} changed too short ago to be judged.` : '';
  printer.note(`${orders} orders, ${paid} paid, ${delivered} delivered.${left}`);
  if (unreadable > 0) {
    printer.note(
      `${unreadable} could not be read: they have no id, status or e-mail address. Look in the dashboard.`,
    );
  }
  if (findings.length === 0) {
    printer.note(unreadable > 0 ? 'All others agree.' : 'All agree.');
    return;
  }
  for (const [kind, what] of Object.entries(WHAT)) {
    const count = findings.filter((one) => one.kind === kind).length;
    if (count > 0) printer.note(`${count} ${what}.`);
  }
  if (findings.some(({ kind }) => kind === 'not_delivered')) {
    printer.note(
      'npx storefront-webhooks recover brings back what was missed; what is dead, dead list shows.',
    );
  }
  if (findings.some(({ because }) => because === 'unlogged')) {
    printer.note('Of what is unlogged, no log tells: recover --orders brings it back.');
  }
  if (findings.some(({ because }) => because === 'queued')) {
    printer.note(
      'What is queued waits for the worker of your queue, or is lost with the queue: recover --queued runs it.',
    );
  }
}

const FIELDS = [
  'orderId',
  'kind',
  'because',
  'times',
  'status',
  'value',
  'currency',
  'updatedAt',
] as const satisfies (keyof Finding)[];

/** As RFC 4180 has it. What a spreadsheet would take for a formula begins with an apostrophe. */
function toCsv(findings: readonly Finding[]): string {
  const rows = findings.map((finding) => FIELDS.map((field) => toCell(finding[field])));
  return [FIELDS, ...rows].map((cells) => `${cells.join(',')}\r\n`).join('');
}

function toCell(value: Finding[(typeof FIELDS)[number]]): string {
  const text = value instanceof Date ? value.toISOString() : String(value ?? '');
  const harmless = /^[=+@\t\r]|^-(?!\d)/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
