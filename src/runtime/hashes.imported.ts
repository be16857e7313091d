import crypto from 'node:crypto';
import { keyBlocks } from './key-blocks.js';
import { nativeSha2, type Sha2 } from './sha2.js';

/** Node's crypto, on Bun and Deno, whose earlier versions have no `process.getBuiltinModule`. */
export const sha2: Sha2 = nativeSha2(crypto, keyBlocks);
