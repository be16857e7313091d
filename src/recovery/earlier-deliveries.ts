import { Answers, NO_TERMS } from './answers.js';
import { entriesOf, Sequence } from './entries.js';
import { type Missed, readEntry } from './log-entry.js';
import type { Pace } from './request-rate.js';
import type { SourceSettings } from './source.js';

/** The properties by which `findEarlier` judges a delivery. */
export type Told = Pick<Missed, 'reason' | 'hasReceipt' | 'toldAt' | 'shop'>;

/**
 * Returns a function that says whether a delivery is from before the first answer that both this receiver and
 * its store know of. Something else has handled such a delivery, as far as can be known, or may have
 * recovered it: the code that ran before this receiver, a receiver with another secret or scope, or a store
 * that was lost since.
 *
 * @param missed - The deliveries to judge. If older answers decide, the whole log is read.
 * @param read - The answers since `since`, if they were read already.
 */
export async function findEarlier(
  settings: SourceSettings,
  pace: Pace,
  missed: readonly Told[],
  read?: Answers,
): Promise<(one: Told) => boolean> {
  if (missed.length === 0) return () => false;
  const isUnlogged = missed.some(({ shop }) => shop === undefined);
  let answers = read ?? (await readAnswers(settings, pace));
  if (isUnlogged || answers.isOpen) answers = await readAnswers({ ...settings, since: 0 }, pace);
  const { terms } = answers;
  const all = [...terms.values()];
  return ({ reason, hasReceipt, toldAt, shop }) => {
    // An order that the log does not mention is this receiver's only from its first answer on.
    if (shop === undefined && !all.some(({ first }) => first <= toldAt)) return true;
    const its = shop === undefined ? all : [terms.get(shop) ?? NO_TERMS];
    const isBare = reason === 'foreign' && !hasReceipt;
    return its.some(({ since, until }) => toldAt < since || (isBare && toldAt <= until));
  };
}

async function readAnswers({ receiver, ...rest }: SourceSettings, pace: Pace): Promise<Answers> {
  // The errors of users' functions were reported when the log was first read.
  const settings = { ...rest, receiver: { ...receiver, onError() {} } };
  const answers = new Answers(settings, true);
  for await (const entry of entriesOf(settings, pace, new Sequence(), () => {})) {
    const found = await readEntry(entry, settings, true);
    if (typeof found === 'object') await answers.add(entry, found);
  }
  return answers;
}
