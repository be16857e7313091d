import type { Command } from 'commander';
import { UsageError, WebhookError } from 'storefront-webhooks';
import { type Fixture, type ReplayOptions, replay } from 'storefront-webhooks/testing';
import { explain } from './causes.js';
import {
  answerOf,
  type DeliveryReport,
  deliveryLine,
  failureLines,
  idOf,
  keyOf,
  pageOf,
  subjectOf,
} from './delivery.js';
import { toCount, toTimeout, toTimes } from './numbers.js';
import type { Printer } from './printer.js';
import { type SecretFlags, secretArgs } from './secrets.js';
import { quote } from './shell.js';

/** The flags that say how to send deliveries. */
export interface SendingFlags {
  readonly duplicate: number;
  readonly concurrency: number;
  readonly headerPrefix?: string;
  readonly timeout: number;
  readonly plainHttp: boolean;
}

/** Adds the flags of {@link SendingFlags} to a command. */
export function addSendingFlags(command: Command): Command {
  return command
    .option('--duplicate <times>', 'how often to send each delivery', toTimes, 1)
    .option('--concurrency <number>', 'how many to send at once', toCount, 1)
    .option(
      '--header-prefix <text>',
      "the prefix of the webhook headers (default: the delivery's own)",
    )
    .option('--timeout <ms>', 'how long to wait for an answer', toTimeout, 10_000)
    .option('--plain-http', 'allow plain HTTP to another machine', false);
}

/** Returns the options for `replay` that the flags give. */
export function toReplayOptions({
  timeout,
  plainHttp,
  headerPrefix,
}: Pick<SendingFlags, 'timeout' | 'plainHttp' | 'headerPrefix'>) {
  return { timeout, plainHttp, ...(headerPrefix === undefined ? {} : { headerPrefix }) };
}

/** The flags with which a printed command reaches the same receiver. A secret from the command line is left out. */
export function sendingArgs({
  headerPrefix,
  plainHttp,
  ...secrets
}: Pick<SendingFlags, 'headerPrefix' | 'plainHttp'> & SecretFlags): string[] {
  return [
    ...(headerPrefix === undefined ? [] : ['--header-prefix', quote(headerPrefix)]),
    ...secretArgs(secrets),
    ...(plainHttp ? ['--plain-http'] : []),
  ];
}

/** The answer to a delivery that was sent. */
export interface SentAnswer {
  readonly status: number;
  readonly outcome: string;
  /** Whether the answer is the one that the fixture expects; `undefined` if it expects none. */
  readonly asExpected: boolean | undefined;
  /** How often the delivery was sent, including this attempt. */
  readonly attempt: number;
}

/** A delivery to send, and which answers to it are good. */
export interface Sending {
  readonly fixture: Fixture;
  readonly options: ReplayOptions;
  readonly isGood: (answer: SentAnswer) => boolean;
  /** The command that sends this delivery alone. */
  readonly repeat: string;
  /** Whether the delivery was made to be rejected. Default: it was not. */
  readonly isForged?: boolean;
  /** Whether the body is another than the one that was saved. Default: it is not. */
  readonly isChanged?: boolean;
  /**
   * Returns what shows that the receiver is not the wanted one, although its answer may be good.
   *
   * @param key - The key in the receipt of the answer.
   */
  readonly findFault?: (outcome: string, key: string) => Promise<Fault | undefined>;
}

/** The part of a report that says why a receiver is not the wanted one. */
export type Fault = Pick<DeliveryReport, 'cause' | 'fix' | 'otherKey' | 'otherStore'>;

/** Whether a status confirms that the receiver has accepted the delivery. */
export const isTaken = (status: number) => status >= 200 && status < 300;

/** Sends one delivery, and returns the report. */
export async function sendOne(
  url: string,
  { fixture, options, isGood, repeat, isForged = false, isChanged = false, findFault }: Sending,
  attempt: number,
): Promise<DeliveryReport> {
  const about = {
    time: new Date().toISOString(),
    event: options.event ?? fixture.event,
    id: options.id ?? idOf(fixture),
    ...subjectOf(fixture.body),
    signature: signatureOf(fixture, options),
    attempt,
  };
  const { answer, asExpected, page, key, ...answered } = await send(url, fixture, options);
  // A page that answers on every path confirms deliveries that no receiver gets.
  const isPage = isTaken(answered.status) && page?.startsWith('text/html');
  // The receipt need not be verified: whatever answers in place of the shop is not the shop either.
  const fault = key === undefined ? undefined : await findFault?.(answered.outcome, key);
  const good = isGood({ ...answered, asExpected, attempt }) && !isPage && !fault;
  if (good) return { ...about, ...answered, good };
  const why = explain({
    ...answered,
    page,
    error: answer,
    event: about.event,
    expect: fixture.expect,
    isForged,
    isChanged,
  });
  const told = answered.status === 0 ? {} : { answer };
  return { ...about, ...answered, good, ...told, ...why, repeat, ...fault };
}

async function send(url: string, fixture: Fixture, options: ReplayOptions) {
  const startedAt = performance.now();
  try {
    const result = await replay(url, fixture, options);
    // Some fixtures ask for goods over HTTP, which have no outcome.
    const page = fixture.expect && !fixture.expect.outcome ? undefined : pageOf(result);
    const { asExpected } = result;
    return { ...answerOf(result), asExpected, page, key: keyOf(result) };
  } catch (error) {
    if (error instanceof UsageError || !(error instanceof WebhookError)) throw error;
    const ms = Math.round(performance.now() - startedAt);
    return {
      status: 0,
      outcome: '',
      ms,
      answer: error.message,
      asExpected: false,
      page: undefined,
      key: undefined,
    };
  }
}

function signatureOf(
  { signing }: Fixture,
  { corrupt = false }: ReplayOptions,
): DeliveryReport['signature'] {
  if (signing === 'omit') return 'none';
  if (signing === 'keep') return 'kept';
  return signing === 'corrupt' || corrupt ? 'wrong' : 'valid';
}

/** Sends deliveries, `concurrency` at once, and reports each. Resolves with whether all answers were good. */
export async function sendAll(
  url: string,
  sendings: readonly Sending[],
  concurrency: number,
  printer: Printer,
): Promise<boolean> {
  const attempts = new Map<string, number>();
  const queue = sendings.values();
  let sent = 0;
  let bad = 0;
  const tellProgress = () => {
    if (sendings.length > 1) printer.progress(`${sent} of ${sendings.length} sent …`);
  };
  const worker = async () => {
    for (const sending of queue) {
      const id = sending.options.id ?? idOf(sending.fixture);
      const attempt = (attempts.get(id) ?? 0) + 1;
      attempts.set(id, attempt);
      const report = await sendOne(url, sending, attempt);
      sent += 1;
      if (!report.good) bad += 1;
      printer.found(report, () => [
        deliveryLine(report, printer),
        ...failureLines(report, printer),
      ]);
      tellProgress();
    }
  };
  tellProgress();
  await Promise.all(Array.from({ length: Math.min(concurrency, sendings.length) }, worker));
  printer.progress(undefined);
  if (printer.isForPeople && sent > 1) {
    const answered = bad === 0 ? 'all answered as expected' : `${bad} not answered as expected`;
    printer.note(`${sent} sent, ${answered}.`);
  }
  return bad === 0;
}
