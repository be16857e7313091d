import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { UsageError } from 'storefront-webhooks';
import { printable } from '../errors/text.js';
import { prefixOf } from '../testing/header-prefix.js';
import { numbersIn, toFileName, toFixtureText, writeNew } from './fixture-file.js';
import type { Host } from './host.js';
import { commandLines, textLines } from './lines.js';
import { redactHeaders, redactQuery, removeSignature } from './record/redact.js';
import { redactBody } from './record/to-fixture.js';
import { type Addressed, readLog } from './save/log.js';
import { findReceiver, toTestText } from './save/test-file.js';
import type { Session } from './session.js';
import { quote } from './shell.js';
import { readBytes, readSource } from './source.js';

interface Flags {
  readonly out: string;
  readonly receiver: string;
  readonly event?: string;
  readonly asIs: boolean;
  readonly headerPrefix?: string;
}

/** Adds `save`, which turns a delivery into a test. */
export function addSave(program: Command, session: Session): void {
  program
    .command('save <file>')
    .summary('turn a delivery into a vitest test')
    .description(
      "Writes a fixture, and a vitest test beside it that sends the fixture to your own receiver and expects it to be handled. <file> is a recording (.hook.json), a webhook log from the provider's API, or a body.",
    )
    .option('--out <folder>', 'the folder to write to', 'test/webhooks')
    .option('--receiver <file>', 'the module that exports your receiver', 'src/webhooks.ts')
    .option('--event <name>', 'the event, if the body does not name it')
    .option('--as-is', 'keep customer data and goods', false)
    .option(
      '--header-prefix <text>',
      "the prefix of the webhook headers (default: the delivery's own)",
    )
    .addHelpText(
      'after',
      '\nExample:\n  npx storefront-webhooks save test/webhooks/0007-order-paid.hook.json --receiver src/webhooks.ts',
    )
    .action((file: string, flags: Flags) => run(file, flags, session));
}

function run(file: string, flags: Flags, { host, printer }: Session): void {
  const receiver = findReceiver(flags.receiver);
  const saved = toTested(clean(read(file, flags, host), flags));
  const { out } = flags;
  const nextNumber = numbersIn(out);
  const name = `${String(nextNumber()).padStart(4, '0')}-${toFileName(saved.event)}`;
  const fixture = write(out, `${name}.hook.json`, toFixtureText(saved), flags.asIs);
  const suffix = /\.m?js$/.exec(flags.receiver)?.[0] ?? '.ts';
  const test = join(out, `${name}.test${suffix}`);
  write(out, `${name}.test${suffix}`, toTestText(`${name}.hook.json`, test, saved, receiver));
  const next = `npx vitest run ${quote(test)}`;
  const { columns } = printer;
  const redacted = [...saved.redacted, ...(saved.redactedQuery ?? [])];
  printer.found({ fixture, test, redacted, next }, () => [
    ...textLines('delivery: ', fixture, columns),
    ...(redacted.length === 0
      ? []
      : textLines('without:  ', printable(redacted.join(', '), 4000), columns)),
    ...textLines('test:     ', test, columns),
    ...commandLines('next:     ', next, columns),
  ]);
  if (receiver.hasStore) {
    printer.note(
      `The test uses the store that ${flags.receiver} opens. Completed work stays there, so the next run finds the delivery done. Have the module open another store for tests, such as new Database(process.env.SHOP_DATABASE ?? 'shop.db').`,
    );
  }
}

function read(file: string, { event }: Flags, host: Host): Addressed {
  if (file.endsWith('.hook.json')) return readSource(file, host);
  const log = existsSync(file) ? readLog(readBytes(file, host)) : undefined;
  return log ?? readSource(file, host, event);
}

function clean(saved: Addressed, { asIs, headerPrefix = prefixOf(saved) }: Flags): Addressed {
  const signatureHeader = `${headerPrefix}Signature`;
  // The test verifies with another secret than the recorded signature, which could be sent again.
  const signing = saved.signing === 'keep' ? 'resign' : saved.signing;
  if (asIs) return { ...saved, headers: removeSignature(saved.headers, signatureHeader), signing };
  const cleaned = redactBody(saved);
  if (!cleaned) {
    throw new UsageError(
      'fixture_invalid',
      'The body is not valid JSON in UTF-8, so customer data cannot be removed. Add --as-is to save it unchanged.',
    );
  }
  const address = saved.path === undefined ? undefined : redactQuery(saved.path);
  return {
    ...saved,
    ...cleaned,
    ...(address && { path: address.text, redactedQuery: address.redacted }),
    redacted: [...new Set([...saved.redacted, ...cleaned.redacted])],
    headers: redactHeaders(saved.headers, signatureHeader),
    signing,
  };
}

/** Adds the expected answer: `rejected` for a forged delivery, otherwise `handled`. */
function toTested(saved: Addressed): Addressed {
  const isForged = saved.signing === 'omit' || saved.signing === 'corrupt';
  return {
    ...saved,
    expect: isForged ? { status: 401, outcome: 'rejected' } : { status: 200, outcome: 'handled' },
  };
}

function write(folder: string, name: string, text: string, isPrivate = false): string {
  const written = writeNew(folder, name, text, { isPrivate });
  if (written !== undefined) return written;
  throw new UsageError(
    'option_invalid',
    `${join(folder, name)} exists already and was not changed. Give another folder with --out.`,
  );
}
