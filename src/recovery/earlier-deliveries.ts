import type { WebhookLog } from '../schemas/webhook-log.js';
import { Answers, NO_TERMS } from './answers.js';
import { entriesOf, pageAtOnce, Sequence } from './entries.js';
import { type EntryRead, type Missed, readEntries, subjectOf } from './log-entry.js';
import type { Pace } from './request-rate.js';
import { type SourceSettings, withoutErrors } from './source.js';

const NEVER = Number.POSITIVE_INFINITY;

/** The properties by which `findEarlier` judges a delivery. */
export type MissedFacts = Pick<
  Missed,
  'reason' | 'hasReceipt' | 'sentAt' | 'shop' | 'event' | 'recordId' | 'isPaid' | 'changedAt'
>;

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
  missed: readonly MissedFacts[],
  read?: Answers,
): Promise<(one: MissedFacts) => boolean> {
  if (missed.length === 0) return () => false;
  const isUnlogged = missed.some(({ shop }) => shop === undefined);
  let answers = read ?? (await readAnswers(settings, pace));
  const isKnown = missed.every((one) => answers.knowsBefore(one));
  if (isUnlogged || !isKnown || answers.isOpen)
    answers = await readAnswers({ ...settings, since: 0 }, pace);
  const { terms } = answers;
  const all = [...terms.values()];
  return (one) => {
    const { reason, hasReceipt, sentAt, shop } = one;
    // An order that the log does not mention is this receiver's only from its first answer on.
    if (shop === undefined && !all.some(({ first }) => first <= sentAt)) return true;
    const its = shop === undefined ? all : [terms.get(shop) ?? NO_TERMS];
    const isBare = reason === 'foreign' && !hasReceipt;
    const subject = subjectOf(one) ?? '';
    return its.some(
      ({ first, since, until, taken }) =>
        sentAt < since ||
        (isBare && sentAt <= until) ||
        // The previous code has answered another delivery of the same, such as `order:paid`.
        (taken.get(subject) ?? NEVER) <= until ||
        // This receiver had not answered here yet, and another address of the account took the same.
        (shop !== undefined && sentAt < first && answers.wasTakenElsewhere(one)),
    );
  };
}

async function readAnswers(all: SourceSettings, pace: Pace): Promise<Answers> {
  // The errors were reported when the log was first read.
  const settings = withoutErrors(all);
  const answers = new Answers(settings, true);
  const onOther = (entry: WebhookLog) => answers.addElsewhere(entry);
  const add = async ({ entry, found }: EntryRead) => {
    if (typeof found === 'object') await answers.add(entry, found);
  };
  const entries = entriesOf(settings, pace, new Sequence(), () => {}, onOther);
  for await (const _ of pageAtOnce(readEntries(entries, settings, true), add));
  return answers;
}
