import { validateHeaderValue } from 'node:http';
import type { IdempotencyStore, StoredDelivery } from 'storefront-webhooks';
import { describeError } from '../../errors/text.js';
import { invalidKey } from '../../request/key.js';
import { pause } from '../../runtime/timing.js';
import { type DeliveryReport, deliveryLine, failureLines } from '../delivery.js';
import { unsigned } from '../fixture-file.js';
import type { Printer } from '../printer.js';
import {
  type Fault,
  isTaken,
  type SendingFlags,
  sendOne,
  toReplayOptions,
} from '../send-options.js';
import { findNow } from './pages.js';

/**
 * Sends a delivery to the shop, whose process runs it under the same key as before. The report has an `otherKey` or an
 * `otherStore` if another shop ran it: see {@link isElsewhere}.
 */
export async function send(
  store: IdempotencyStore,
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
    {
      fixture,
      options,
      isGood: ({ status }) => isTaken(status),
      repeat,
      findFault: (outcome, ranAs) => findFault(store, delivery, outcome, ranAs),
    },
    1,
  );
  const report = { ...sent, ...(sent.outcome === 'queued' && !isElsewhere(sent) && QUEUED) };
  printer.found({ key, interrupted, ...report }, () => [
    deliveryLine(report, printer),
    ...failureLines(report, printer),
  ]);
  return report;
}

/** Whether another shop answered: it would run every other delivery, too. */
export function isElsewhere({ otherKey, otherStore }: DeliveryReport): boolean {
  return otherKey !== undefined || otherStore === true;
}

/**
 * Compares an answer with the delivery, and with the store.
 *
 * A delivery that did not fit its event may have any key: once the shop takes it, it runs under the key of the genuine
 * one. Another delivery may not fit any more, such as one beyond `maxAge`. The shop parks that under another key than
 * the receipt may have, so such an outcome is checked only for the receipt's key.
 */
async function findFault(
  store: IdempotencyStore,
  delivery: StoredDelivery,
  outcome: string,
  ranAs: string,
): Promise<Fault | undefined> {
  const { key, body } = delivery;
  const invalid = invalidKey(delivery, body);
  if (key !== invalid && ranAs !== key && ranAs !== invalid)
    return { ...ELSEWHERE, otherKey: ranAs };
  // Not the key of a delivery that onInvalid keeps: that one is done.
  if (outcome === 'parked')
    return findNow(store, ranAs, ['dead']).then((dead) => dead && PARKED, unreadable);
  if (outcome !== 'handled' && outcome !== 'duplicate') return undefined;
  const keys = [ranAs, invalid];
  const giveUpAt = performance.now() + DONE_WITHIN_MS;
  for (;;) {
    const fault = await faultIn(store, keys, outcome).catch(unreadable);
    if (!fault || performance.now() > giveUpAt) return fault;
    await pause(100);
  }
}

/** Longer than a short failure of the store: the shop answers meanwhile, and records the delivery afterwards. */
const DONE_WITHIN_MS = 2_000;

/**
 * Returns why none of the keys is done in the store; `undefined` if one is, or if the store has no `isDone`. A shop
 * of an earlier version answers `duplicate` to a copy of a delivery that it parks.
 */
async function faultIn(
  store: IdempotencyStore,
  keys: readonly string[],
  outcome: string,
): Promise<Fault | undefined> {
  let fault: Fault = OTHER_STORE;
  for (const key of keys) {
    if ((await store.isDone?.(key)) ?? true) return undefined;
    if (outcome === 'duplicate' && (await findNow(store, key, ['dead']))) fault = PARKED;
  }
  return fault;
}

export function isHeaderValue(value: string): boolean {
  try {
    validateHeaderValue('X-Service-Webhook', value);
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
  cause:
    'The receiver at this address processed the delivery under another key. So the address is that of another shop, or the scope or keyBy of the receiver has changed. The delivery stays in this store.',
  fix: 'Check first whether that receiver has delivered the order. Then send the delivery to the shop of this store. If the address is right, call receiver.redrive(delivery) in a program of the shop.',
};

const PARKED = {
  cause: 'The shop has parked the delivery again.',
  fix: 'See the error with dead show, and mend it. Then send the delivery again.',
};

const OTHER_STORE = {
  otherStore: true,
  cause:
    'The receiver at this address answered that the delivery is handled, but this store does not have it as done. So that receiver uses another store, as another shop or a staging server does, or it could not record the delivery yet. The delivery stays in this store.',
  fix: 'Check first whether that receiver has delivered the order. Then send the delivery to the shop of this store. If the address is right, the stderr of the shop says why it could not record the delivery: wait until dead show reports it as handled.',
} as const;

function unreadable(error: unknown): Fault {
  return {
    cause: `The shop answered, but this store could not be read to check that the shop uses it: ${describeError(error)}`,
    fix: 'Repair the connection to the store. Then check with dead show whether the delivery is handled, before you send it again.',
  };
}

const QUEUED = {
  good: false,
  cause: 'The shop has a queue, which runs nothing if it still has the ended job of this delivery.',
  fix: 'Call receiver.redrive(delivery) in a program of the shop, for each delivery of store.list().',
};
