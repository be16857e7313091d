import { createHash, createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { type Candidate, type Step, step } from './cause.js';
import type { Target } from './signatures.js';

export type Key = string | Uint8Array;
export type Message = string | Uint8Array;

/** Compares possible keys and messages with the signature. */
export interface Search {
  /** Returns the steps by which a key and a message have exactly this signature; `undefined` if they do not. */
  find(key: Candidate<Key>, message: Candidate<Message>): Found | undefined;
  /** Tries signatures that are not an HMAC of the message: a hash of secret and body, or the two swapped. */
  findWithoutHmac(key: Candidate<Key>, message: Candidate<Message>): Found | undefined;
  /** The number of comparisons. */
  readonly tried: number;
}

export interface Found {
  readonly steps: readonly Step[];
  readonly message: Message;
}

/**
 * Creates a search for the possible meanings of a signature.
 *
 * @param spend - Called with the number of hashed bytes.
 */
export function createSearch(
  targets: readonly Candidate<Target>[],
  spend: (bytes: number) => void,
): Search {
  let tried = 0;
  const digests = [...new Set(targets.flatMap(({ value }) => value.digests))];
  // The given secret is compared with the most messages. For other keys, a KeyObject costs more than it saves.
  let own: KeyObject | undefined;
  const toHmacKey = ({ value, steps }: Candidate<Key>): Key | KeyObject => {
    if (steps.length > 0) return value;
    own ??= createSecretKey(Buffer.from(value));
    return own;
  };
  /** @param made - The bytes as Latin-1, which is faster to create and to compare than a buffer. */
  const compare = (digest: string, made: string): readonly Step[] | undefined => {
    tried += 1;
    return targets.find(({ value }) => value.digests.includes(digest) && value.fits(made))?.steps;
  };
  return {
    get tried() {
      return tried;
    },
    find(key, message) {
      const { value } = message;
      for (const digest of digests) {
        if (RARE.has(digest) && tried > MOST_RARE) continue;
        spend(value.length);
        const made = createHmac(digest, toHmacKey(key)).update(value).digest('binary');
        const ofTarget = compare(digest, made);
        if (ofTarget === undefined) continue;
        const other = digest === 'sha512' ? [] : [step('other_digest', digest.toUpperCase())];
        return { steps: [...message.steps, ...key.steps, ...ofTarget, ...other], message: value };
      }
      return undefined;
    },
    findWithoutHmac({ value: key, steps: ofKey }, { value: message, steps: ofMessage }) {
      for (const digest of digests) {
        const hash = (...parts: Message[]) =>
          parts.reduce((sum, part) => sum.update(part), createHash(digest)).digest('binary');
        const forms: readonly (readonly [made: string, of: string])[] = [
          [hash(message), 'body, without any secret'],
          [hash(key, message), 'secret followed by the body'],
          [hash(message, key), 'body followed by the secret'],
          [hash(key, '.', message), 'secret and the body with a dot between'],
          [createHmac(digest, message).update(key).digest('binary'), ''],
        ];
        spend(forms.length * message.length);
        for (const [made, of] of forms) {
          const ofTarget = compare(digest, made);
          if (ofTarget === undefined) continue;
          const how =
            of === '' ? step('swapped') : step('no_hmac', `${digest.toUpperCase()} of the ${of}`);
          return { steps: [how, ...ofMessage, ...ofKey, ...ofTarget], message };
        }
      }
      return undefined;
    },
  };
}

/** The most comparisons to make with a rare digest. Only the most likely messages are compared. */
const MOST_RARE = 100;
const RARE = new Set(['sha3-512', 'blake2b512', 'sha3-384', 'sha3-256', 'sha512-256']);
