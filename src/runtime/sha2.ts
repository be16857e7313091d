/** The hash functions of this package, synchronous on every runtime. */
export interface Sha2 {
  /** Returns lower-case hexadecimal digits. A text is hashed as UTF-8. */
  sha256(message: Uint8Array | string): string;
  hmacSha512(key: Uint8Array | string, message: Uint8Array): Uint8Array;
  /** Compares in constant time, so that its duration does not reveal where two values of equal length differ. */
  equal(a: Uint8Array, b: Uint8Array): boolean;
}

export type NodeCrypto = typeof import('node:crypto');

/** Node's crypto. `hash` needs Node 20.12, and other runtimes may not have it. */
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
