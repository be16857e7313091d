import { validateHeaderValue } from 'node:http';
import type { StoredDelivery } from 'storefront-webhooks';
import { type DeliveryReport, deliveryLine, failureLines } from '../delivery.js';
import { unsigned } from '../fixture-file.js';
import type { Printer } from '../printer.js';
import { isTaken, type SendingFlags, sendOne, toReplayOptions } from '../send-options.js';

/** Sends a delivery to the shop, whose process runs it under the same key as before. */
export async function send(
  { body, event, id, key, interrupted }: StoredDelivery,
  to: string,
  secret: string,
  flags: Pick<SendingFlags, 'timeout' | 'plainHttp' | 'headerPrefix'>,
  printer: Printer,
): Promise<DeliveryReport> {
  const fixture = { file: key, ...unsigned(event, id, body) };
  const options = { secret, ...toReplayOptions(flags) };
  const repeat = `npx storefront-webhooks dead show <store> ${key}`;
  const sent = await sendOne(
    to,
    { fixture, options, isGood: ({ status }) => isTaken(status), repeat },
    1,
  );
  const report = sent.outcome === 'queued' ? { ...sent, ...QUEUED } : sent;
  printer.found({ key, interrupted, ...report }, () => [
    deliveryLine(report, printer),
    ...failureLines(report, printer),
  ]);
  return report;
}

export function isHeaderValue(id: string): boolean {
  try {
    validateHeaderValue('X-Service-Webhook', id);
    return true;
  } catch {
    return false;
  }
}

/**
 * How many bad answers in a row show that the shop takes nothing. One alone may be due to its delivery, whose handler
 * never ends.
 */
export const MOST_IN_A_ROW = 3;

/**
 * Whether a bad answer may be the answer to every delivery: nothing answers in time, something else than the receiver
 * does, or the receiver does not take what this command sends.
 */
export function isForAll({ status, outcome }: DeliveryReport): boolean {
  // A body that is too large, or that does not fit its event, is a fault of the one delivery.
  if (outcome === 'rejected') return status !== 413 && status !== 422;
  return outcome === '' || outcome === 'unavailable';
}

/**
 * Whether the receiver could not verify what this command signed: with another secret, or under another header prefix.
 * If it is the first answer, every other delivery would get it.
 */
export function isUnverified({ status, outcome }: DeliveryReport): boolean {
  return status === 401 && outcome === 'rejected';
}

const QUEUED = {
  good: false,
  cause: 'The shop has a queue, which runs nothing if it still has the ended job of this delivery.',
  fix: 'Call receiver.redrive(delivery) in a program of the shop, for each delivery of store.list().',
};
