import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { type Candidate, type Step, step } from './cause.js';
import type { Target } from './signatures.js';

/** Compares with the signature what may have been signed. */
export interface Search {
  /** The steps by which a key and a message have exactly this signature; `undefined` where they have not. */
  find(key: Candidate<Key>, message: Candidate<Uint8Array>): Found | undefined;
  /** Those that are no HMAC: a hash of secret and body, or the two swapped. */
  findWithoutHmac(key: Candidate<Key>, message: Candidate<Uint8Array>): Found | undefined;
  /** How many different ones were compared. */
  readonly tried: number;
  /** Whether so much was compared that what is less likely has to be left out. */
  readonly isSpent: boolean;
}

export type Key = string | Uint8Array;

export interface Found {
  readonly steps: readonly Step[];
  readonly message: Uint8Array;
  /** Which digest it is: `sha512` where it is as it should be. */
  readonly digest: string;
}

/** @param limit - How many bytes are hashed. */
export function createSearch(targets: readonly Candidate<Target>[], limit: number): Search {
  let spent = 0;
  const digests = [...new Set(targets.flatMap(({ value }) => value.digests))];
  const seen = new Set<string>();
  const compare = (digest: string, made: Buffer): readonly Step[] | undefined => {
    seen.add(made.toString('latin1', 0, 12));
    const target = targets.find(
      ({ value }) => value.digests.includes(digest) && begins(made, value.bytes),
    );
    return target?.steps;
  };
  const otherDigest = (digest: string): readonly Step[] =>
    digest === 'sha512'
      ? []
      : [
          step(
            'other_digest',
            'signing',
            `It was signed with HMAC-${digest.toUpperCase()}, and not with HMAC-SHA512.`,
          ),
        ];
  return {
    get tried() {
      return seen.size;
    },
    get isSpent() {
      return spent > limit;
    },
    find({ value: key, steps: ofKey }, { value: message, steps: ofMessage }) {
      for (const digest of digests) {
        // What nobody signs with is compared with the likely only.
        if (RARE.has(digest) && ofKey.length + ofMessage.length > 0) continue;
        spent += message.length + OF_ONE;
        const ofTarget = compare(digest, createHmac(digest, key).update(message).digest());
        if (ofTarget === undefined) continue;
        const steps = [...ofMessage, ...ofKey, ...ofTarget, ...otherDigest(digest)];
        return { steps, message, digest };
      }
      return undefined;
    },
    findWithoutHmac({ value: key, steps: ofKey }, { value: message, steps: ofMessage }) {
      for (const digest of digests) {
        const name = digest.toUpperCase();
        const hash = (...parts: Key[]) =>
          parts.reduce((sum, part) => sum.update(part), createHash(digest)).digest();
        const forms: readonly (readonly [made: () => Buffer, Step])[] = [
          [
            () => createHmac(digest, message).update(key).digest(),
            step(
              'swapped',
              'signing',
              'Key and message were swapped: the secret was signed, with the body as the key.',
            ),
          ],
          [
            () => hash(message),
            step(
              'no_hmac',
              'signing',
              `It is the ${name} of the body, without any secret: no HMAC, and anybody can make it.`,
            ),
          ],
          [
            () => hash(key, message),
            step(
              'no_hmac',
              'signing',
              `It is the ${name} of the secret with the body behind it, and no HMAC.`,
            ),
          ],
          [
            () => hash(message, key),
            step(
              'no_hmac',
              'signing',
              `It is the ${name} of the body with the secret behind it, and no HMAC.`,
            ),
          ],
          [
            () => hash(key, '.', message),
            step(
              'no_hmac',
              'signing',
              `It is the ${name} of the secret and the body with a dot between, and no HMAC.`,
            ),
          ],
        ];
        for (const [make, form] of forms) {
          spent += message.length + OF_ONE;
          const ofTarget = compare(digest, make());
          if (ofTarget === undefined) continue;
          return { steps: [form, ...ofMessage, ...ofKey, ...ofTarget], message, digest };
        }
      }
      return undefined;
    },
  };
}

/** To make one, and its HMAC, takes as long as to hash some bytes. */
const OF_ONE = 500;

const RARE = new Set(['sha3-512', 'blake2b512', 'sha3-384', 'sha3-256', 'sha512-256']);

/** Constant in time, over as many bytes as the signature has. */
function begins(made: Buffer, given: Buffer): boolean {
  return made.length >= given.length && timingSafeEqual(made.subarray(0, given.length), given);
}
