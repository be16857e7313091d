import { UsageError, WebhookError } from 'storefront-webhooks';
import { type Fixture, type ReplayOptions, replay } from 'storefront-webhooks/testing';
import { explain } from './causes.js';
import {
  answerOf,
  type DeliveryReport,
  deliveryLine,
  failureLines,
  idOf,
  subjectOf,
} from './delivery.js';
import type { Printer } from './printer.js';

/** A delivery to be sent, and when its answer is a good one. */
export interface Sending {
  readonly fixture: Fixture;
  readonly options: ReplayOptions;
  /** `asExpected`: whether the fixture's own expectation is met, where it has one. */
  readonly isGood: (status: number, asExpected: boolean | undefined) => boolean;
  /** The command that sends it alone. */
  readonly repeat: string;
}

/** Whether the receiver has said that it has it. */
export const isTaken = (status: number) => status >= 200 && status < 300;

/** Sends one delivery, and gives what it was answered. */
export async function sendOne(
  url: string,
  { fixture, options, isGood, repeat }: Sending,
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
  const { answer, asExpected, ...answered } = await send(url, fixture, options);
  const good = isGood(answered.status, asExpected);
  if (good) return { ...about, ...answered, good };
  const why = explain({ ...answered, error: answer, event: about.event, expect: fixture.expect });
  const told = answered.status === 0 ? {} : { answer };
  return { ...about, ...answered, good, ...told, ...why, repeat };
}

async function send(url: string, fixture: Fixture, options: ReplayOptions) {
  const startedAt = performance.now();
  try {
    const result = await replay(url, fixture, options);
    return { ...answerOf(result), asExpected: result.asExpected };
  } catch (error) {
    if (error instanceof UsageError || !(error instanceof WebhookError)) throw error;
    const ms = Math.round(performance.now() - startedAt);
    return { status: 0, outcome: '', ms, answer: error.message, asExpected: false };
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

/** Sends deliveries, so many at once, and tells of each. Gives whether all answers were good. */
export async function sendAll(
  url: string,
  sendings: readonly Sending[],
  concurrency: number,
  printer: Printer,
): Promise<boolean> {
  let allGood = true;
  const attempts = new Map<string, number>();
  const queue = sendings.values();
  const worker = async () => {
    for (const sending of queue) {
      const id = sending.options.id ?? idOf(sending.fixture);
      const attempt = (attempts.get(id) ?? 0) + 1;
      attempts.set(id, attempt);
      const report = await sendOne(url, sending, attempt);
      allGood &&= report.good;
      printer.found(report, () => [deliveryLine(report, printer), ...failureLines(report)]);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return allGood;
}
