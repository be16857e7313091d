import { setMaxListeners } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { UsageError } from 'storefront-webhooks';
import { nameUrl } from '../testing/http.js';
import { isNear, readUrl } from './check/address.js';
import { toJUnit } from './check/junit.js';
import { createObserver, type Observer } from './check/observer.js';
import { createOrders, type Orders } from './check/orders.js';
import { createRestart } from './check/restart.js';
import { isProof, type Result, resultLines } from './check/result.js';
import { genuine, ROWS } from './check/rows/index.js';
import { runRows } from './check/run.js';
import type { Row } from './check/trial.js';
import { toTimeout } from './numbers.js';
import { checkWritable } from './output-file.js';
import { addSecretFlags, collect, readSecrets, type SecretFlags } from './secrets.js';
import { sendingArgs } from './send-options.js';
import type { Session } from './session.js';
import { quote } from './shell.js';
import { readSource } from './source.js';
import { closest } from './suggestion.js';

/** How long to wait for an answer, and for goods after it. */
const TIMEOUT_MS = 10_000;
const GOODS_MS = 5_000;

interface Flags extends SecretFlags {
  readonly observe?: string;
  readonly restart?: string;
  readonly only: readonly string[];
  readonly order: string;
  readonly unpaid?: string;
  readonly junit?: string;
  readonly headerPrefix?: string;
  readonly goodsWithin: number;
  readonly timeout: number;
  readonly plainHttp: boolean;
  readonly yes: boolean;
}

const LIMIT_MS = 60_000;
/** Longer than any server should wait for a body. */
const ENDLESS_MS = 15_000;

/** Adds `check`, which tests an endpoint against everything that can happen to it. */
export function addCheck(program: Command, session: Session): void {
  const command = program
    .command('check <url>')
    .summary('test your own endpoint against everything that can happen to it')
    .description(
      'Sends your endpoint everything that will happen to it, from duplicates to forgeries, and reports what a customer would have suffered. The endpoint hands out goods for orders that no customer has paid, so use a test endpoint.',
    )
    .option(
      '--observe <what>',
      'a command or URL that counts the goods handed out for {order}, or $ORDER_ID',
    )
    .option('--restart <command>', 'a command that stops the endpoint and starts it again')
    .option(
      '--only <row>',
      'run only this row, after a paid order; may be given several times',
      collect,
      [],
    )
    .option(
      '--order <what>',
      'a paid order as your provider sends it: a fixture or a file',
      'order:paid',
    )
    .option('--unpaid <what>', 'an unpaid order, if the status of an order is not a number')
    .option('--junit <file>', 'write the results as JUnit XML')
    .option('--header-prefix <text>', 'the prefix of the webhook headers (default: X-Service-)')
    .option(
      '--goods-within <ms>',
      'how long to wait for goods after the answer',
      toTimeout,
      GOODS_MS,
    )
    .option('--timeout <ms>', 'how long to wait for an answer', toTimeout, TIMEOUT_MS)
    .option('--plain-http', 'allow plain HTTP beyond a private network', false)
    .option('--yes', 'do not ask before sending beyond a private network', false);
  addSecretFlags(command)
    .addHelpText(
      'after',
      `\nRows: ${ROWS.map(({ name }) => name).join(', ')}.` +
        '\n\nThe check takes a minute at most, and exits with 1 if a row has failed or the time was up.' +
        '\n\nExample:\n  npx storefront-webhooks check http://localhost:3000/webhooks \\' +
        `\n    --observe "sqlite3 -cmd '.timeout 5000' shop.db \\"SELECT count(*) FROM keys WHERE order_id = '{order}'\\""`,
    )
    .action(async (url: string, flags: Flags) => {
      const ended = new AbortController();
      // Each running count adds a listener.
      setMaxListeners(0, ended.signal);
      try {
        session.end((await run(readUrl(url), flags, session, ended.signal)) ? 0 : 1);
      } finally {
        // A count that still runs would keep the process running.
        ended.abort();
      }
    });
}

async function run(url: URL, flags: Flags, session: Session, ended: AbortSignal): Promise<boolean> {
  const { host, printer } = session;
  const rows = choose(flags.only);
  const [secret] = readSecrets(flags, session);
  const read = (name: string) => readSource(name, host, 'order:paid');
  const orders = createOrders(
    read(flags.order),
    flags.unpaid === undefined ? undefined : read(flags.unpaid),
  );
  const observer =
    flags.observe === undefined ? undefined : createObserver(flags.observe, host.env, ended);
  await permit(url, flags, session);
  checkWritable(flags.junit, '--junit');
  if (observer) await tryObserver(observer, orders);
  const startedAt = new Date();
  const all = await runRows({
    rows,
    setting: {
      url,
      secret,
      headerPrefix: flags.headerPrefix ?? 'X-Service-',
      orders,
      timeoutMs: flags.timeout,
      endlessMs: ENDLESS_MS,
      restart: flags.restart === undefined ? undefined : createRestart(flags.restart, url),
    },
    observer,
    goodsMs: flags.goodsWithin,
    limitMs: LIMIT_MS,
    repeat: (row) => repeat(url.href, flags, row),
    progress: (done, row) => printer.progress(`${done} of ${rows.length} rows, now ${row} …`),
  });
  printer.progress(undefined);
  const isChosen = ({ row, verdict }: Result) =>
    flags.only.length === 0 || flags.only.includes(row) || verdict === 'failed';
  const results = all.filter(isChosen);
  for (const result of results) printer.found(result, () => resultLines(result, printer));
  const count = (verdict: string) => results.filter((result) => result.verdict === verdict).length;
  const [passed, failed, left] = [count('passed'), count('failed'), count('not tried')];
  const took = ((Date.now() - startedAt.getTime()) / 1000).toFixed(0);
  printer.note(`${passed} passed, ${failed} failed, ${left} not tried, in ${took} s.`);
  if (!observer) printer.note('Goods were not counted: --observe counts how many were handed out.');
  if (flags.junit !== undefined) {
    // Others may read the report, and the URL or a command may hold a password or a token.
    const named = nameUrl(url);
    const { observe, restart } = flags;
    const open = { ...flags, ...(observe && { observe: '…' }), ...(restart && { restart: '…' }) };
    const told = results.map((result) =>
      result.repeat === undefined ? result : { ...result, repeat: repeat(named, open, result.row) },
    );
    writeFileSync(flags.junit, toJUnit(told, named, startedAt));
  }
  return isProof(results);
}

function choose(only: readonly string[]): readonly Row[] {
  const names = ROWS.map(({ name }) => name);
  for (const one of only) {
    if (names.includes(one)) continue;
    throw new UsageError(
      'option_invalid',
      `There is no row ${one}.${closest(one, names)} The rows are ${names.join(', ')}.`,
    );
  }
  // An endpoint that takes no paid order, such as a wrong path, proves nothing by rejecting a forgery.
  return only.length === 0
    ? ROWS
    : ROWS.filter((row) => row === genuine || only.includes(row.name));
}

/** Asks before sending beyond a private network: signed orders make the endpoint hand out goods. */
async function permit(url: URL, flags: Flags, { host, printer }: Session): Promise<void> {
  if (await isNear(url)) return;
  if (url.protocol === 'http:' && !flags.plainHttp) {
    throw new UsageError(
      'option_invalid',
      `Anyone on the way to ${url.host} could read signed orders and send them again. Use https:, or --plain-http on a network that you trust.`,
    );
  }
  if (flags.yes) return;
  const question = `${url.host} is not on this machine or a private network. Is it your own test endpoint?`;
  if (host.stdin.isTTY !== true || host.stderr.isTTY !== true) {
    throw new UsageError('option_invalid', `${question} If it is, add --yes.`);
  }
  printer.progress(undefined);
  const answer = await host.stdin.ask(`${question} [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new UsageError('option_invalid', 'Nothing was sent.');
}

/** Tries --observe before anything is sent, so that a mistake in it does not look like a fault of the endpoint. */
async function tryObserver(observer: Observer, orders: Orders): Promise<void> {
  const count = await observer.count(orders.newId());
  if (!observer.perOrder || count === 0) return;
  throw new UsageError(
    'option_invalid',
    `--observe counts ${count} goods for an order that was never sent. Count only the goods of {order}; or leave {order} out, and the check compares the counts before and after.`,
  );
}

/** The command that repeats a row. A secret from the command line is left out. */
function repeat(url: string, flags: Flags, row: string): string {
  const { observe, restart, order, unpaid } = flags;
  const option = (name: string, value: string | undefined) =>
    value === undefined ? [] : [name, quote(value)];
  return [
    'npx storefront-webhooks check',
    quote(url),
    ...option('--only', row),
    ...option('--observe', observe),
    ...option('--restart', restart),
    ...(order === 'order:paid' ? [] : option('--order', order)),
    ...option('--unpaid', unpaid),
    ...sendingArgs(flags),
    ...(flags.timeout === TIMEOUT_MS ? [] : option('--timeout', `${flags.timeout}`)),
    ...(flags.goodsWithin === GOODS_MS ? [] : option('--goods-within', `${flags.goodsWithin}`)),
    ...(flags.yes ? ['--yes'] : []),
  ].join(' ');
}
