import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { UsageError } from 'storefront-webhooks';
import { openStore } from './dead/open-store.js';
import { drawDrill, sentence, toPage } from './drill/page.js';
import { type Drill, playDrill } from './drill/story.js';
import { toCount, toNumber } from './numbers.js';
import { checkWritable } from './output-file.js';
import type { Printer } from './printer.js';
import type { Session } from './session.js';

interface Flags {
  readonly store?: string;
  readonly orders: number;
  readonly seed: number;
  readonly html?: string;
  readonly svg?: string;
}

/** Adds `drill`, which plays three days of a shop in which everything goes wrong, and counts the goods. */
export function addDrill(program: Command, session: Session): void {
  program
    .command('drill')
    .summary('play three days in which everything goes wrong, and count the goods')
    .description(
      'Plays three days of a shop on this machine, against the sandbox with a simulated clock: a maintenance page, lost answers, an outage, a disabled endpoint. Then recovers the missed deliveries, and counts what each customer got.',
    )
    .option('--orders <number>', 'how many orders are paid', toCount, 412)
    .option('--seed <number>', 'decides when orders are paid', toNumber, 1)
    .option(
      '--store <url>',
      'an empty store: postgres://…, redis://… or a SQLite file (default: a temporary SQLite file)',
    )
    .option('--html <file>', 'write a page that shows the three days')
    .option('--svg <file>', 'write only the drawing')
    .addHelpText('after', '\nExample:\n  npx storefront-webhooks drill --html drill.html')
    .action(async (flags: Flags) => session.end((await run(flags, session)) ? 0 : 1));
}

/** Returns whether the drill is good. */
async function run(flags: Flags, { host, printer }: Session): Promise<boolean> {
  checkWritable(flags.html, '--html');
  checkWritable(flags.svg, '--svg');
  const folder = mkdtempSync(join(tmpdir(), 'drill-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  // Also if the reader of the output ends, or the operator interrupts the drill.
  process.once('exit', remove);
  let isOver = false;
  void host.interrupted().then(() => {
    if (!isOver) process.exit(1);
  });
  try {
    const file = join(folder, 'drill.db');
    if (flags.store === undefined) writeFileSync(file, '');
    const { store, isUsed, close } = await openStore(flags.store ?? file, host, true);
    try {
      if (await isUsed()) throw inUse();
      const { orders, seed } = flags;
      return conclude(
        await playDrill({ store, orders, seed, tell: teller(printer) }),
        flags,
        printer,
      );
    } finally {
      await close();
    }
  } finally {
    isOver = true;
    process.off('exit', remove);
    remove();
  }
}

function inUse(): UsageError {
  return new UsageError(
    'option_invalid',
    'A receiver or an earlier drill has used this store. The orders of the drill would stay in it, so nothing was done. Give --store an empty database of its own.',
  );
}

function teller(printer: Printer) {
  const { paint } = printer;
  return (hour: number, what: string, { paid, delivered }: { paid: number; delivered: number }) => {
    const missing = paid - delivered;
    printer.found({ hour, what, paid, delivered, missing }, () => {
      const time = `day ${Math.floor(hour / 24) + 1}, ${String(Math.floor(hour % 24)).padStart(2, '0')} h`;
      const gap = missing === 0 ? paint.green('none missing') : paint.red(`${missing} missing`);
      return `${time}  ${what.padEnd(35)} ${String(paid).padStart(4)} paid, ${gap}`;
    });
  };
}

function conclude(drill: Drill, { html, svg }: Flags, printer: Printer): boolean {
  const { paid, once, missing, twice, reconciliation } = drill;
  const findings = reconciliation.findings.length;
  printer.found({ paid, once, missing, twice, findings }, () => ['', sentence(drill)]);
  const write = (file: string | undefined, draw: (drill: Drill) => string) => {
    if (file === undefined) return;
    writeFileSync(file, draw(drill));
    printer.note(`Written: ${file}`);
  };
  write(html, toPage);
  write(svg, drawDrill);
  return isGood({ missing, twice, findings });
}

/** Returns whether each order was delivered once, and nothing is left to reconcile. */
export function isGood(counts: Pick<Drill, 'missing' | 'twice'> & { readonly findings: number }) {
  return counts.missing === 0 && counts.twice === 0 && counts.findings === 0;
}
