import { keyBlocks } from './key-blocks.js';
import { nativeSha2, type Sha2 } from './sha2.js';

let loaded: Sha2 | undefined;

/** Loads Node's crypto at the first hash: its 5 ms would be a third of what the import of this package takes. */
function native(): Sha2 {
  loaded ??= nativeSha2(process.getBuiltinModule('node:crypto'), keyBlocks);
  return loaded;
}

/**
 * Node's crypto, on Node. `hashes.portable.ts` replaces this file on Workers, in browsers and on unknown runtimes, and
 * `hashes.imported.ts` on Bun and Deno.
 */
export const sha2: Sha2 = {
  sha256: (message) => native().sha256(message),
  hmacSha512: (key, message) => native().hmacSha512(key, message),
  signer: (key) => native().signer(key),
  equal: (a, b) => native().equal(a, b),
};
