/** RFC 4231, section 4, HMAC-SHA-512: number, key, data, MAC. Case 5 is about truncation. */
export const RFC_4231: readonly [string, Uint8Array, Uint8Array, string][] = [
  [
    '1',
    new Uint8Array(20).fill(0x0b),
    ascii('Hi There'),
    '87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cdedaa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854',
  ],
  [
    '2',
    ascii('Jefe'),
    ascii('what do ya want for nothing?'),
    '164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737',
  ],
  [
    '3',
    new Uint8Array(20).fill(0xaa),
    new Uint8Array(50).fill(0xdd),
    'fa73b0089d56a284efb0f0756c890be9b1b5dbdd8ee81a3655f83e33b2279d39bf3e848279a722c806b485a47e67c807b946a337bee8942674278859e13292fb',
  ],
  [
    '4',
    Uint8Array.from({ length: 25 }, (_, index) => index + 1),
    new Uint8Array(50).fill(0xcd),
    'b0ba465637458c6990e5a8c5f61d4af7e576d97ff94b872de76f8050361ee3dba91ca5c11aa25eb4d679275cc5788063a5f19741120c4f2de2adebeb10a298dd',
  ],
  [
    '6',
    new Uint8Array(131).fill(0xaa),
    ascii('Test Using Larger Than Block-Size Key - Hash Key First'),
    '80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f3526b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598',
  ],
  [
    '7',
    new Uint8Array(131).fill(0xaa),
    ascii(
      'This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm.',
    ),
    'e37b6a775dc87dbaa4dfa9f96e5e3ffddebd71f8867289865df5a32d20cdc944b6022cac3c4982b10d5eeb55c3e4de15134676fb6de0446065c97440fa8c6a58',
  ],
];

function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
