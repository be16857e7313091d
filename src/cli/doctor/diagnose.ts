import { isSignature } from '../../request/signature.js';
import { sentBodies, unlikelyBodies } from './bodies.js';
import type { Candidate, Step } from './cause.js';
import { type Difference, findDifference } from './difference.js';
import { givenKeys, type Keys, misreadKeys, misreadTwice } from './keys.js';
import { type Headers, otherMessages } from './messages.js';
import { observe } from './observations.js';
import { createSearch, type Found, type Search } from './search.js';
import { readSignature } from './signatures.js';

/** A delivery as it was received. */
export interface Received {
  readonly body: Uint8Array;
  readonly signature: string;
  readonly headers?: Headers;
}

/** Why a signature fits or does not. It holds bytes of the body, and never a secret or a signature. */
export type Diagnosis =
  | { readonly result: 'genuine'; readonly observations: readonly string[] }
  | {
      readonly result: 'explained';
      /** What was done, the first thing first. With all of it undone, the signature fits exactly. */
      readonly steps: readonly Step[];
      /** The bytes that were signed. */
      readonly sent: Uint8Array;
      /** Where the body at hand begins to differ from them. */
      readonly difference: Difference | undefined;
      readonly tried: number;
      readonly observations: readonly string[];
    }
  | {
      readonly result: 'unexplained';
      /** How many different transformations were tried. */
      readonly tried: number;
      /** Whether there were more than its size allows to try. */
      readonly partial: boolean;
      readonly observations: readonly string[];
    };

/** How much is looked into. */
export interface Effort {
  /** The bytes that are hashed, with some for each HMAC. Default: enough for what is likely of 64 KB. */
  readonly mostHashed?: number;
}

/**
 * Finds which transformation of a body, of a secret or of how it was signed has exactly the given signature. A cause
 * is named only where the HMAC is the same.
 *
 * @example
 * const diagnosis = diagnose({ body, signature }, { secrets: [{ name: 'WEBHOOK_SECRET', secret }], apiKeys: [] });
 */
export function diagnose(
  received: Received,
  keys: Keys,
  { mostHashed = Math.max(MOST_HASHED, 200 * received.body.length) }: Effort = {},
): Diagnosis {
  const { body, signature } = received;
  const observations = observe(received);
  const targets = readSignature(signature);
  // Enough for all that is likely of 64 KB in less than a second, and for something of what is larger.
  const search = createSearch(targets, mostHashed);
  const found =
    targets.length === 0 ? undefined : look(received, keys, search, targets[0]?.value.time);
  if (found === undefined) {
    return { result: 'unexplained', tried: search.tried, partial: search.isSpent, observations };
  }
  const { steps, message } = found;
  if (steps.length === 0 && isSignature(signature)) return { result: 'genuine', observations };
  const difference = steps.some(({ code }) => NOT_OF_THE_BODY.has(code))
    ? undefined
    : findDifference(body, message);
  return {
    result: 'explained',
    steps,
    sent: message,
    difference,
    tried: search.tried,
    observations,
  };
}

/** In bytes. */
const MOST_HASHED = 60_000_000;

/** Where what was signed is not meant to be the body, their bytes need no comparison. */
const NOT_OF_THE_BODY = new Set(['other_message', 'no_hmac', 'swapped']);

/** How many of the bodies that an encoder or a hop makes are tried with what is less likely as well. */
const LIKELY = 100;

function look(
  { body, headers = [] }: Received,
  keys: Keys,
  search: Search,
  time: string | undefined,
): Found | undefined {
  const likely: Candidate<Uint8Array>[] = [];
  for (const [key, message, how] of pairs()) {
    const found = how === 'hmac' ? search.find(key, message) : search.findWithoutHmac(key, message);
    if (found !== undefined) return found;
    if (search.isSpent) return undefined;
  }
  return undefined;

  /** What is compared: one fault at a time, and then two. */
  function* pairs(): Generator<Pair> {
    const asGiven: Candidate<Uint8Array> = { value: body, steps: [] };
    const given = givenKeys(keys);
    const misread = [...misreadKeys(keys)];
    for (const key of [...given, ...misread]) yield [key, asGiven, 'hmac'];
    for (const sent of sentBodies(body)) {
      if (likely.length < LIKELY && sent.steps.length === 1) likely.push(sent);
      for (const key of given) yield [key, sent, 'hmac'];
    }
    for (const key of given) yield [key, asGiven, 'no hmac'];
    for (const key of given)
      for (const message of otherMessages(body, headers, time)) yield [key, message, 'hmac'];
    for (const key of misreadTwice(keys)) yield [key, asGiven, 'hmac'];
    for (const key of misread) yield [key, asGiven, 'no hmac'];
    for (const sent of unlikelyBodies(body))
      for (const key of given.slice(0, 1)) yield [key, sent, 'hmac'];
    for (const sent of likely) {
      for (const key of misread) yield [key, sent, 'hmac'];
      for (const key of given) yield [key, sent, 'no hmac'];
    }
  }
}

type Pair = readonly [
  key: Candidate<string | Uint8Array>,
  message: Candidate<Uint8Array>,
  how: 'hmac' | 'no hmac',
];
