/** The hash functions of this package, synchronous on every runtime. */
export interface Sha2 {
  /** Returns lower-case hexadecimal digits. A text is hashed as UTF-8. */
  sha256(message: Uint8Array | string): string;
  hmacSha512(key: Uint8Array | string, message: Uint8Array): Uint8Array;
  /** Returns HMAC-SHA512 of short texts for one key of 64 bytes, in lower-case hexadecimal digits. */
  signer(key: Uint8Array): Sign;
  /** Compares in constant time, so that its duration does not reveal where two values of equal length differ. */
  equal(a: Uint8Array, b: Uint8Array): boolean;
}

type Sign = (message: string) => string;

export type NodeCrypto = typeof import('node:crypto');

/** Node's crypto. `hash` needs Node 20.12, and other runtimes may not have it. */
type NativeCrypto = Pick<NodeCrypto, 'createHash' | 'createHmac' | 'timingSafeEqual'> &
  Partial<Pick<NodeCrypto, 'hash'>>;

/** @param prepare - Makes a faster signer from a key, if there is one. */
export function nativeSha2(
  { createHash, createHmac, hash, timingSafeEqual }: NativeCrypto,
  prepare?: (key: Uint8Array, hash: NodeCrypto['hash'], otherwise: Sign) => Sign,
): Sha2 {
  return {
    sha256: hash
      ? (message) => hash('sha256', message)
      : (message) => createHash('sha256').update(message).digest('hex'),
    hmacSha512: (key, message) => createHmac('sha512', key).update(message).digest(),
    signer(key) {
      const sign = (message: string) => createHmac('sha512', key).update(message).digest('hex');
      return hash && prepare ? prepare(key, hash, sign) : sign;
    },
    equal: (a, b) => a.length === b.length && timingSafeEqual(a, b),
  };
}
