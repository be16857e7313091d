import { TextEncoder } from './bytes.js';

type Hash = NonNullable<Partial<Pick<typeof import('node:crypto'), 'hash'>>['hash']>;
type Sign = (message: string) => string;

const BLOCK_BYTES = 128;
const DIGEST_BYTES = 64;
const MAX_BYTES = 4096;

const encoder = new TextEncoder();

/**
 * Returns HMAC-SHA512 for one key, as RFC 2104 defines it, over Node's one-shot hash: the padded key blocks are written
 * once. Each `createHmac` makes a native object, which costs more than the hashing of a short message.
 *
 * @param key - At most one block of the hash, 128 bytes.
 * @param otherwise - Signs messages that are longer than 4 KB.
 * @returns The function. Its results are lower-case hexadecimal digits.
 */
export function keyBlocks(key: Uint8Array, hash: Hash, otherwise: Sign): Sign {
  const inner = new Uint8Array(BLOCK_BYTES + MAX_BYTES).fill(0x36, 0, BLOCK_BYTES);
  const outer = new Uint8Array(BLOCK_BYTES + DIGEST_BYTES).fill(0x5c, 0, BLOCK_BYTES);
  for (const [index, byte] of key.entries()) {
    inner[index] = byte ^ 0x36;
    outer[index] = byte ^ 0x5c;
  }
  const text = inner.subarray(BLOCK_BYTES);
  return (message) => {
    const { read, written } = encoder.encodeInto(message, text);
    if (read < message.length) return otherwise(message);
    outer.set(hash('sha512', inner.subarray(0, BLOCK_BYTES + written), 'buffer'), BLOCK_BYTES);
    return hash('sha512', outer, 'hex');
  };
}
