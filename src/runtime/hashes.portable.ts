import { hmac } from '@noble/hashes/hmac.js';
import { sha256, sha512 } from '@noble/hashes/sha2.js';
import { toHex, toUtf8 } from './bytes.js';
import { type NodeCrypto, nativeSha2, type Sha2 } from './sha2.js';

export const portableSha2: Sha2 = {
  sha256: (message) => toHex(sha256(message)),
  hmacSha512: (key, message) => hmac(sha512, key, message),
  signer: (key) => (message) => toHex(hmac(sha512, key, toUtf8(message))),
  equal(a, b) {
    let difference = a.length ^ b.length;
    for (let i = 0; i < a.length; i++) difference |= (a[i] ?? 0) ^ (b[i] ?? 0);
    return difference === 0;
  },
};

/** Looks node:crypto up at run time: an `import` would break bundles for other runtimes. */
function findNodeCrypto(): NodeCrypto | undefined {
  const { process } = globalThis as {
    process?: { getBuiltinModule?: (id: 'node:crypto') => NodeCrypto | undefined };
  };
  try {
    return process?.getBuiltinModule?.('node:crypto');
  } catch {
    // Next.js's edge runtime has a `process` that throws for unsupported functions.
    return undefined;
  }
}

const nodeCrypto = findNodeCrypto();

/** Node's crypto if the runtime has it; otherwise the audited `@noble/hashes`. */
export const sha2: Sha2 = nodeCrypto ? nativeSha2(nodeCrypto) : portableSha2;
