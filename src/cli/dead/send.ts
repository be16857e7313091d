import { validateHeaderValue } from 'node:http';
import type { StoredDelivery } from 'storefront-webhooks';
import { invalidKey } from '../../request/key.js';
import { type DeliveryReport, deliveryLine, failureLines } from '../delivery.js';
import { unsigned } from '../fixture-file.js';
import type { Printer } from '../printer.js';
import { isTaken, type SendingFlags, sendOne, toReplayOptions } from '../send-options.js';

/**
 * Sends a delivery to the shop, whose process runs it under the same key as before. The report has an `otherKey` if
 * another shop ran it.
 */
export async function send(
  delivery: StoredDelivery,
  to: string,
  secret: string,
  flags: Pick<SendingFlags, 'timeout' | 'plainHttp' | 'headerPrefix'>,
  printer: Printer,
): Promise<DeliveryReport> {
  const { body, event, id, key, interrupted } = delivery;
  const fixture = { file: key, ...unsigned(event, id, body) };
  const options = { secret, ...toReplayOptions(flags) };
  const repeat = `npx storefront-webhooks dead show <store> ${key}`;
  const sent = await sendOne(
    to,
    { fixture, options, isGood: ({ status }) => isTaken(status), repeat, ...keysOf(delivery) },
    1,
  );
  const report = { ...sent, ...(sent.otherKey ? ELSEWHERE : sent.outcome === 'queued' && QUEUED) };
  printer.found({ key, interrupted, ...report }, () => [
    deliveryLine(report, printer),
    ...failureLines(report, printer),
  ]);
  return report;
}

/**
 * Returns the keys under which the right shop may run a delivery. Any key if it did not fit its event: once the shop
 * takes it, it runs under the key of the genuine one. Another delivery may not fit any more, such as one beyond `maxAge`.
 */
function keysOf(delivery: StoredDelivery): { readonly keys?: readonly string[] } {
  const { key, body } = delivery;
  const invalid = invalidKey(delivery, body);
  return key === invalid ? {} : { keys: [key, invalid] };
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

const ELSEWHERE = {
  good: false,
  cause:
    'The receiver at this address processed the delivery under another key. So the address is that of another shop, or the scope or keyBy of the receiver has changed. The delivery stays in this store.',
  fix: 'Check first whether that receiver has delivered the order. Then send the delivery to the shop of this store. If the address is right, call receiver.redrive(delivery) in a program of the shop.',
};

const QUEUED = {
  good: false,
  cause: 'The shop has a queue, which runs nothing if it still has the ended job of this delivery.',
  fix: 'Call receiver.redrive(delivery) in a program of the shop, for each delivery of store.list().',
};
