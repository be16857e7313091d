import { hmac } from '@noble/hashes/hmac.js';
import { sha256, sha512 } from '@noble/hashes/sha2.js';
import { toHex } from './bytes.js';

/** The hashing that this package needs, synchronous on every runtime. */
export interface Sha2 {
  /** In lower-case hexadecimal; text is taken as UTF-8. */
  sha256(message: Uint8Array | string): string;
  hmacSha512(key: Uint8Array | string, message: Uint8Array): Uint8Array;
  /** Compares without telling by its duration where two values of equal length differ. */
  equal(a: Uint8Array, b: Uint8Array): boolean;
}

type NodeCrypto = typeof import('node:crypto');

/** Node's crypto; `hash` came with Node 20.12, and other runtimes may not have it. */
type NativeCrypto = Pick<NodeCrypto, 'createHash' | 'createHmac' | 'timingSafeEqual'> &
  Partial<Pick<NodeCrypto, 'hash'>>;

export function nativeSha2({ createHash, createHmac, hash, timingSafeEqual }: NativeCrypto): Sha2 {
  return {
    sha256: hash
      ? (message) => hash('sha256', message)
      : (message) => createHash('sha256').update(message).digest('hex'),
    hmacSha512: (key, message) => createHmac('sha512', key).update(message).digest(),
    equal: (a, b) => a.length === b.length && timingSafeEqual(a, b),
  };
}

export const portableSha2: Sha2 = {
  sha256: (message) => toHex(sha256(message)),
  hmacSha512: (key, message) => hmac(sha512, key, message),
  equal(a, b) {
    let difference = a.length ^ b.length;
    for (let i = 0; i < a.length; i++) difference |= (a[i] ?? 0) ^ (b[i] ?? 0);
    return difference === 0;
  },
};

/** Asked for at run time: an `import` of node:crypto would break bundles for other runtimes. */
function findNodeCrypto(): NodeCrypto | undefined {
  const { process } = globalThis as {
    process?: { getBuiltinModule?: (id: 'node:crypto') => NodeCrypto | undefined };
  };
  try {
    return process?.getBuiltinModule?.('node:crypto');
  } catch {
    // Next.js's edge runtime has a `process` that throws at what it lacks.
    return undefined;
  }
}

const nodeCrypto = findNodeCrypto();

/** Native where the runtime offers Node's crypto, the audited `@noble/hashes` elsewhere. */
export const sha2: Sha2 = nodeCrypto ? nativeSha2(nodeCrypto) : portableSha2;
