import { once } from 'node:events';
import type { Server } from 'node:http';
import { join } from 'node:path';
import type { Command } from 'commander';
import { UsageError } from 'storefront-webhooks';
import { isLoopback, parseAddress } from '../address.js';
import { printable } from '../report/text.js';
import { explain } from './causes.js';
import { type DeliveryReport, deliveryLine, failureLines, subjectOf } from './delivery.js';
import { numbersIn, toFileName, toFixtureText, writeNew } from './fixture-file.js';
import { toCount, toNumber } from './numbers.js';
import type { Printer } from './printer.js';
import { type Answered, type Arrived, createProxy } from './record/proxy.js';
import { nameOf, outcomeOf, type RecordingRules, toRecording } from './record/recording.js';
import { addSecretFlags, readSecretsIfAny, type SecretFlags } from './secrets.js';
import { isTaken } from './sending.js';
import type { Session } from './session.js';
import { quote } from './shell.js';

interface Flags extends SecretFlags {
  readonly port: number;
  readonly out: string;
  readonly asIs: boolean;
  readonly headerPrefix: string;
  readonly limit: number;
  readonly max: number;
  readonly timeout: number;
  readonly plainHttp: boolean;
}

/** `record`: passes on what is sent to a server, and saves it. */
export function addRecord(program: Command, session: Session): void {
  const command = program
    .command('record <url>')
    .summary('pass deliveries on to a server, and save them')
    .description(
      'Listens on this machine and passes on to the server of <url> whatever comes, unchanged, and its answers back. Each delivery is saved as a .hook.json file, which replay sends again, until this is interrupted.',
    )
    .option('--port <number>', 'the port; 0 takes any that is free', toNumber, 0)
    .option('--out <folder>', 'where to save', 'test/webhooks')
    .option('--as-is', 'keep customers, goods and signatures in what is saved', false)
    .option('--header-prefix <text>', 'what the headers begin with', 'X-Service-')
    .option('--limit <bytes>', 'the largest body', toCount, 1024 * 1024)
    .option('--max <number>', 'how many to save; what comes then is only passed on', toCount, 1000)
    .option('--timeout <ms>', 'how long an answer may take', toCount, 60_000)
    .option('--plain-http', 'pass on over plain HTTP to another machine', false);
  addSecretFlags(command)
    .addHelpText(
      'after',
      '\nWhat is about a customer, the goods, and what is in fields that nobody knows are replaced in what is saved; replay signs it anew. With a secret, each signature is verified.' +
        '\n\nExample:\n  npx storefront-webhooks record http://localhost:3000/webhooks --port 4020',
    )
    .action((url: string, flags: Flags) => run(url, flags, session));
}

async function run(address: string, flags: Flags, session: Session): Promise<void> {
  const { host, printer } = session;
  const target = readTarget(address, flags);
  // From the beginning: it may be asked to end as soon as it has printed where it is.
  const interrupted = host.interrupted();
  const secrets = readSecretsIfAny(flags, session);
  if (flags.asIs) {
    printer.note(
      'With --as-is, what is saved holds customers, goods and valid signatures: who has such a file can send it to you until the webhook secret is changed. Do not commit it.',
    );
  }
  const recorder = new Recorder(address, { ...flags, secrets }, printer);
  const { limit, timeout } = flags;
  const server = createProxy({
    ...{ target, limit, timeout },
    onArrived: (arrived) => recorder.arrived(arrived),
    onRefused: (why) => printer.note(why),
  });
  server.listen(flags.port, '127.0.0.1');
  await once(server, 'listening');
  const at = server.address();
  const origin = `http://127.0.0.1:${typeof at === 'object' && at ? at.port : flags.port}`;
  printer.note(
    `Send to ${origin}${target.pathname}: it is passed on to ${target.origin}, and saved in ${flags.out}. Ctrl+C ends it.`,
  );
  await interrupted;
  // The next note takes the terminal's own ^C away.
  printer.progress('');
  await close(server);
  const { saved } = recorder;
  printer.note(`${saved} ${saved === 1 ? 'delivery' : 'deliveries'} saved in ${flags.out}.`);
  if (saved > 0) {
    printer.note('Again:', `npx storefront-webhooks replay ${quote(flags.out)} ${quote(address)}`);
  }
}

/** What is being answered may take a little longer. */
async function close(server: Server): Promise<void> {
  const late = setTimeout(() => server.closeAllConnections(), 2000);
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeIdleConnections();
  });
  clearTimeout(late);
}

function readTarget(address: string, { plainHttp }: Flags): URL {
  const url = parseAddress(address);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new UsageError(
      'target_invalid',
      'Give the whole address of your receiver, such as http://localhost:3000/webhooks.',
    );
  }
  if (url.protocol === 'http:' && !plainHttp && !isLoopback(url)) {
    throw new UsageError(
      'option_invalid',
      'Deliveries would be passed on where everybody on the way can read them and send them again. Use https:, or --plain-http on a network that you trust.',
    );
  }
  return url;
}

type Rules = RecordingRules & Pick<Flags, 'out' | 'max'>;

/** Saves deliveries and tells of each. */
class Recorder {
  saved = 0;
  readonly #address: string;
  readonly #rules: Rules;
  readonly #printer: Printer;
  readonly #attempts = new Map<string, number>();
  readonly #nextNumber: () => number;
  #begun = 0;

  constructor(address: string, rules: Rules, printer: Printer) {
    this.#address = address;
    this.#rules = rules;
    this.#printer = printer;
    this.#nextNumber = numbersIn(rules.out);
  }

  /** Numbered as they come, so that they are replayed in this order. */
  arrived(arrived: Arrived): (answered: Answered) => void {
    // Those look at a server, and deliver nothing.
    if (/^(GET|HEAD|OPTIONS)$/.test(arrived.method)) return () => {};
    const { max } = this.#rules;
    this.#begun += 1;
    if (this.#begun === max + 1) {
      this.#printer.note(`${max} deliveries are saved, as --max has it: what comes now is not.`);
    }
    const number = this.#begun > max ? undefined : this.#nextNumber();
    return (answered) => this.#answered(arrived, answered, number);
  }

  #answered(arrived: Arrived, answered: Answered, number: number | undefined): void {
    const named = nameOf(arrived, this.#rules);
    const file = number === undefined ? undefined : this.#save(arrived, answered, named, number);
    const report = { ...this.#report(arrived, answered, named, file), ...(file && { file }) };
    this.#printer.found(report, () => [
      deliveryLine(report, this.#printer),
      ...failureLines(report, this.#printer),
    ]);
  }

  #save(
    arrived: Arrived,
    answered: Answered,
    named: ReturnType<typeof nameOf>,
    number: number,
  ): string | undefined {
    const { out, asIs } = this.#rules;
    const name = `${String(number).padStart(4, '0')}-${toFileName(named.event)}.hook.json`;
    const recording = toRecording(arrived, answered, named, this.#rules);
    if (!recording) {
      this.#printer.note(
        'This one is passed on and not saved: its body is no JSON in UTF-8, so nothing can be taken out of it. With --as-is it is saved.',
      );
      return undefined;
    }
    try {
      const file = writeNew(out, name, toFixtureText(recording), { isPrivate: asIs });
      if (file !== undefined) this.saved += 1;
      else this.#printer.note(`${join(out, name)} is there already, and is left as it is.`);
      return file;
    } catch (error) {
      const why = error instanceof Error ? error.message : 'it failed';
      this.#printer.note(`This one is passed on and could not be saved: ${why}`);
      return undefined;
    }
  }

  #report(
    { time, body }: Arrived,
    { status, body: answer, ms, error }: Answered,
    { event, id, signature }: ReturnType<typeof nameOf>,
    file: string | undefined,
  ): DeliveryReport {
    const attempt = (this.#attempts.get(id) ?? 0) + 1;
    // No more of them than of files: whoever sends has chosen the id.
    if (file !== undefined) this.#attempts.set(id, attempt);
    const outcome = outcomeOf(answer) ?? '';
    const good = isTaken(status);
    const about = { time, event, id, ...subjectOf(body), signature, attempt };
    const report = { ...about, status, outcome, ms, good };
    if (good) return report;
    const why = explain({
      status,
      outcome,
      event,
      error: error ? `It was answered 502, because the target failed: ${error}.` : 'No answer.',
      expect: undefined,
    });
    const repeat = file && `npx storefront-webhooks replay ${quote(file)} ${quote(this.#address)}`;
    return {
      ...report,
      ...why,
      ...(status > 0 && { answer: printable(answer, 500) }),
      ...(repeat && { repeat }),
    };
  }
}
