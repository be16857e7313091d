import { once } from 'node:events';
import type { Command } from 'commander';
import { UsageError } from 'storefront-webhooks';
import { isLoopback, parseAddress } from '../runtime/address.js';
import { explain } from './causes.js';
import {
  type DeliveryReport,
  deliveryLine,
  failureLines,
  shownAnswer,
  subjectOf,
} from './delivery.js';
import { numbersIn, toFileName, toFixtureText, writeNew } from './fixture-file.js';
import { toCount, toPort, toTimeout } from './numbers.js';
import type { Printer } from './printer.js';
import { type Answered, type Arrived, createProxy } from './record/proxy.js';
import { nameOf, outcomeOf, type RecordingRules, toRecording } from './record/to-fixture.js';
import { addSecretFlags, readSecretsIfAny, type SecretFlags } from './secrets.js';
import { isTaken, sendingArgs } from './send-options.js';
import type { Session } from './session.js';
import { quote } from './shell.js';

interface Flags extends SecretFlags {
  readonly port: number;
  readonly out: string;
  readonly asIs: boolean;
  readonly headerPrefix?: string;
  readonly limit: number;
  readonly max: number;
  readonly timeout: number;
  readonly plainHttp: boolean;
}

/** Adds `record`, a proxy that passes deliveries on to a server and saves them. */
export function addRecord(program: Command, session: Session): void {
  const command = program
    .command('record <url>')
    .summary('pass deliveries on to a server, and save them')
    .description(
      'Listens on this machine, passes each request on to the server at <url> unchanged, and passes its answer back. Saves each delivery as a .hook.json file, which replay can send again. Runs until it is interrupted.',
    )
    .option('--port <number>', 'the port to listen on; 0 takes any free port', toPort, 0)
    .option('--out <folder>', 'the folder to save to', 'test/webhooks')
    .option('--as-is', 'keep customer data, goods and signatures in the saved files', false)
    .option('--header-prefix <text>', 'the prefix of the webhook headers (default: X-Service-)')
    .option('--limit <bytes>', 'the largest body to accept', toCount, 1024 * 1024)
    .option('--max <number>', 'how many to save; later ones are only passed on', toCount, 1000)
    .option('--timeout <ms>', 'how long to wait for an answer', toTimeout, 60_000)
    .option('--plain-http', 'allow plain HTTP to another machine', false);
  addSecretFlags(command)
    .addHelpText(
      'after',
      '\nIn the saved files, customer data, goods and the values of unknown fields are replaced; replay signs the result again. With a secret, record verifies each signature.' +
        '\n\nExample:\n  npx storefront-webhooks record http://localhost:3000/webhooks --port 4020',
    )
    .action((url: string, flags: Flags) => run(url, flags, session));
}

async function run(address: string, flags: Flags, session: Session): Promise<void> {
  const { host, printer } = session;
  const target = readTarget(address, flags);
  // Listen for signals first: they may arrive as soon as the address is printed.
  const interrupted = host.interrupted();
  const secrets = readSecretsIfAny(flags, session);
  if (flags.asIs) {
    printer.note(
      'With --as-is, a saved file holds customer data, goods and a valid signature: anyone who has the file can send it to you until you change the webhook secret. Do not commit it.',
    );
  }
  const repeat = (what: string) =>
    ['npx storefront-webhooks replay', quote(what), quote(address), ...sendingArgs(flags)].join(
      ' ',
    );
  const { headerPrefix = 'X-Service-', limit, timeout } = flags;
  const recorder = new Recorder(repeat, { ...flags, headerPrefix, secrets }, printer);
  const { server, close } = createProxy({
    ...{ target, limit, timeout },
    onArrived: (arrived) => recorder.arrived(arrived),
    onRefused: (why) => printer.note(why),
  });
  server.listen(flags.port, '127.0.0.1');
  await once(server, 'listening');
  const at = server.address();
  const origin = `http://127.0.0.1:${typeof at === 'object' && at ? at.port : flags.port}`;
  printer.note(
    `Send to ${origin}${target.pathname}${target.search}: each delivery is passed on to ${target.origin} and saved in ${flags.out}. Press Ctrl+C to stop.`,
  );
  await interrupted;
  // The next note clears the ^C that the terminal has printed.
  printer.progress('');
  await close();
  const { saved } = recorder;
  printer.note(`${saved} ${saved === 1 ? 'delivery' : 'deliveries'} saved in ${flags.out}.`);
  if (saved > 0) printer.note('Again:', repeat(flags.out));
}

function readTarget(address: string, { plainHttp }: Flags): URL {
  const url = parseAddress(address);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new UsageError(
      'target_invalid',
      'Give the full URL of your receiver, such as http://localhost:3000/webhooks.',
    );
  }
  if (url.protocol === 'http:' && !plainHttp && !isLoopback(url)) {
    throw new UsageError(
      'option_invalid',
      'Anyone on the way could read the deliveries and send them again. Use https:, or --plain-http on a network that you trust.',
    );
  }
  return url;
}

type Rules = RecordingRules & Pick<Flags, 'out' | 'max'>;

/** Saves deliveries, and reports each of them. */
class Recorder {
  saved = 0;
  readonly #repeat: (file: string) => string;
  readonly #rules: Rules;
  readonly #printer: Printer;
  readonly #attempts = new Map<string, number>();
  readonly #nextNumber: () => number;
  #begun = 0;

  /** @param repeat - Returns the command that sends a saved delivery again. */
  constructor(repeat: (file: string) => string, rules: Rules, printer: Printer) {
    this.#repeat = repeat;
    this.#rules = rules;
    this.#printer = printer;
    this.#nextNumber = numbersIn(rules.out);
  }

  /** Numbers a delivery as it arrives, so that replay sends deliveries in this order. */
  arrived(arrived: Arrived): (answered: Answered) => void {
    // These methods deliver nothing.
    if (/^(GET|HEAD|OPTIONS)$/.test(arrived.method)) return () => {};
    const { max } = this.#rules;
    this.#begun += 1;
    if (this.#begun === max + 1) {
      this.#printer.note(
        `${max} deliveries are saved, which is the limit (--max). Later ones are only passed on.`,
      );
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
    const recording = toRecording(arrived, answered, named, this.#rules);
    if (!recording) {
      this.#printer.note(
        'This delivery was passed on but not saved: its body is not valid JSON in UTF-8, so customer data cannot be removed. Add --as-is to save it.',
      );
      return undefined;
    }
    try {
      const text = toFixtureText(recording);
      for (let tried = number; ; tried = this.#nextNumber()) {
        const name = `${String(tried).padStart(4, '0')}-${toFileName(named.event)}.hook.json`;
        const file = writeNew(out, name, text, { isPrivate: asIs });
        // Another process that records into this folder may have taken the number meanwhile.
        if (file === undefined) continue;
        this.saved += 1;
        return file;
      }
    } catch (error) {
      const why = error instanceof Error ? error.message : 'it failed';
      this.#printer.note(`This delivery was passed on but could not be saved: ${why}`);
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
    // Counts saved deliveries only: senders choose the ids, and could fill the memory with them.
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
      error: error ? `The proxy answered 502, because the target failed: ${error}.` : 'No answer.',
      expect: undefined,
    });
    return {
      ...report,
      ...why,
      ...(status > 0 && { answer: shownAnswer(answer) }),
      ...(file && { repeat: this.#repeat(file) }),
    };
  }
}
