import { isSignature } from '../../request/signature.js';
import { Agenda } from './agenda.js';
import { addBodies } from './bodies.js';
import type { Candidate, Step } from './cause.js';
import { toBytes } from './charsets.js';
import { type Difference, findDifference } from './difference.js';
import { copiedShort, givenKeys, type Keys, knownKeys, misread, misreadTwice } from './keys.js';
import {
  joined,
  joinedFurther,
  otherMessages,
  partsBeside,
  partsGuessed,
  partsWithin,
  type Received,
  versioned,
} from './messages.js';
import { observe } from './observations.js';
import { createSearch, type Key, type Message } from './search.js';
import { readSignature } from './signatures.js';

/** Why a signature matches or does not. Contains bytes of the body, and never a secret or a signature. */
export type Diagnosis =
  | { readonly result: 'genuine'; readonly observations: readonly string[] }
  | {
      readonly result: 'explained';
      /** The changes in the order in which they happened. If all are undone, the signature matches exactly. */
      readonly steps: readonly Step[];
      /** The bytes that were signed. */
      readonly sent: Uint8Array;
      /** The first difference between the received body and the signed bytes. */
      readonly difference: Difference | undefined;
      readonly tried: number;
      readonly observations: readonly string[];
    }
  | {
      readonly result: 'unexplained';
      /** How many transformations were tried. */
      readonly tried: number;
      /** The kinds of transformations that had too many variants to try all of them. */
      readonly notTried: readonly string[];
      readonly observations: readonly string[];
    };

/** How much work a search may do. */
export interface Effort {
  /** In about nanoseconds. Default: half a second to a second, and more for a body above 100 KB. */
  readonly mostWork?: number;
}

/**
 * Finds the transformation of a body, of a secret or of the way of signing that has exactly the given signature. A
 * cause is named only if the HMAC is equal.
 *
 * @example
 * const diagnosis = diagnose({ body, signature }, { secrets: [{ name: 'WEBHOOK_SECRET', secret }], apiKeys: [] });
 */
export function diagnose(
  received: Received,
  keys: Keys,
  { mostWork = 6e8 + Math.min(1000 * received.body.length, 7e8) }: Effort = {},
): Diagnosis {
  const { body, signature } = received;
  const observations = observe(received);
  const targets = readSignature(signature);
  const agenda = new Agenda<Pair>(mostWork);
  const search = createSearch(targets, (bytes) => agenda.spend(WORK.hmac, bytes));
  if (targets.length > 0) addPairs(agenda, received, keys, targets[0]?.value.time);
  for (const [key, message, how] of agenda.work()) {
    const found = how === 'hmac' ? search.find(key, message) : search.findWithoutHmac(key, message);
    if (found === undefined) continue;
    const { steps, message: signed } = found;
    if (steps.length === 0 && isSignature(signature)) return { result: 'genuine', observations };
    const sent = typeof signed === 'string' ? toBytes(signed) : signed;
    const difference = steps.some(({ code }) => NOT_OF_THE_BODY.has(code))
      ? undefined
      : findDifference(body, sent);
    return { result: 'explained', steps, sent, difference, tried: search.tried, observations };
  }
  return { result: 'unexplained', tried: search.tried, notTried: agenda.left, observations };
}

/** Causes in which the signed message is not a body, so that comparing it with the body would be pointless. */
const NOT_OF_THE_BODY = new Set(['other_message', 'no_hmac', 'swapped']);

const WORK = { hmac: { each: 4000, byte: 4 }, messages: { each: 300_000, byte: 1200 } };

type Pair = readonly [key: Candidate<Key>, message: Candidate<Message>, how: 'hmac' | 'no hmac'];

/** The highest cost of a body that is also tried with keys that are less likely than the given secret. */
const LIKELY = { otherKeys: 7, misread: 3 };

/** Adds the pairs of key and message to compare: first with one fault, then with several. */
function addPairs(
  agenda: Agenda<Pair>,
  { body, headers = [] }: Received,
  keys: Keys,
  time: string | undefined,
): void {
  const asGiven: Candidate<Uint8Array> = { value: body, steps: [] };
  const only = [asGiven];
  const [own, ...others] = givenKeys(keys);
  const likely: Candidate<Message>[] = [];
  const add = (
    cost: number,
    family: string,
    some: () => Iterable<Candidate<Key>>,
    messages: () => Iterable<Candidate<Message>>,
    how: Pair[2] = 'hmac',
  ) =>
    agenda.add(cost, family, function* () {
      const tried = [...some()];
      for (const message of messages()) for (const key of tried) yield [key, message, how];
    });
  if (own === undefined) return;
  const first = () => [own];
  const given = () => [own, ...others];
  const misreadOthers = () => others.flatMap((key) => [...misread(key)]);
  const ownTwice = () => [...misreadTwice(own)];
  const misreadOwn = () => [...knownKeys(), ...misread(own)];
  add(0, MISREAD, given, () => only);
  addBodies(agenda, body, function* (sent): Generator<Pair> {
    if (sent.cost <= LIKELY.misread) likely.push(sent);
    yield [own, sent, 'hmac'];
    if (sent.cost <= LIKELY.otherKeys) for (const key of others) yield [key, sent, 'hmac'];
  });
  const beside = partsBeside(headers, time);
  const parts = [...beside, ...partsWithin(body)];
  add(1, MISREAD, misreadOwn, () => only);
  add(3, 'hashes of the body and the secret', given, () => only, 'no hmac');
  add(4, MESSAGES, given, () => joined(body, parts));
  add(6, MESSAGES, given, () => {
    agenda.spend(WORK.messages, body.length);
    return otherMessages(body);
  });
  add(7, MISREAD, misreadOthers, () => only);
  add(
    7,
    MISREAD,
    () => copiedShort(own),
    () => only,
  );
  add(8, MESSAGES, given, () => versioned(body, beside));
  add(8, MESSAGES, given, () => joinedFurther(body, parts));
  add(8, MESSAGES, first, () => joined(body, partsGuessed(headers)));
  add(9, SEVERAL, ownTwice, () => only);
  add(9, SEVERAL, misreadOwn, () => only, 'no hmac');
  add(10, SEVERAL, misreadOwn, () => likely);
  add(11, SEVERAL, given, () => likely, 'no hmac');
  if (beside.length === 0) return;
  const withDots = () => [...joined(body, beside, ['.']), ...joinedFurther(body, beside, ['.'])];
  // As in the Standard Webhooks specification: the key is the decoded Base64 after whsec_.
  const decoded = () =>
    ownTwice().filter(
      ({ steps: [a, b] }) => `${a?.code} ${b?.code}` === 'secret_prefix secret_encoding',
    );
  add(10, SEVERAL, misreadOwn, withDots);
  add(9, SEVERAL, decoded, withDots);
}

const MISREAD = 'misread secrets';
const MESSAGES = 'other messages than the body';
const SEVERAL = 'a fault of the secret together with another fault';
