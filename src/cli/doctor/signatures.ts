import { type Candidate, type Step, step } from './cause.js';

/** The bytes of a signature, and the digests that have so many. */
export interface Target {
  readonly bytes: Buffer;
  readonly digests: readonly string[];
  /** A time that stands beside the signature, and may be signed with the body. */
  readonly time?: string;
}

/** How long the digests are that a signature may be of. */
const DIGESTS: Readonly<Record<number, readonly string[]>> = {
  64: ['sha512', 'sha3-512', 'blake2b512'],
  48: ['sha384', 'sha3-384'],
  32: ['sha256', 'sha3-256', 'sha512-256'],
  28: ['sha224'],
  20: ['sha1'],
  16: ['md5'],
};

/** The fewest bytes by which one digest is told from another. */
const FEWEST = 16;

/** What a signature may be, as it is written: hexadecimal or Base64, with a prefix or without, cut, or two of them. */
export function readSignature(given: string): Candidate<Target>[] {
  return [...readings(given)].filter(
    ({ value }, index, all) =>
      all.findIndex(
        ({ value: other }) =>
          other.bytes.equals(value.bytes) && other.digests[0] === value.digests[0],
      ) === index,
  );
}

function* readings(given: string): Generator<Candidate<Target>> {
  yield* decoded(given, []);
  const trimmed = given
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2')
    .trim();
  const space: readonly Step[] =
    trimmed === given
      ? []
      : [toStep('signature_white_space', 'The signature has white space or quotes around it.')];
  if (trimmed !== given) yield* decoded(trimmed, space);
  const [, time] = /(?:^|[,;\s])t=(\d{9,13})(?=[,;\s]|$)/.exec(trimmed) ?? [];
  const parts = trimmed.split(/[,;\s]+/);
  for (const part of parts) {
    const bare = part.replace(/^(?:0x|[A-Za-z][\w-]{0,15}[=:])/, '');
    if (bare === '' || bare === trimmed) continue;
    const steps =
      bare === part
        ? [
            toStep(
              'signature_twice',
              'The header holds more than one signature: it was given twice, or something has added to it.',
            ),
          ]
        : [
            toStep(
              'signature_prefix',
              `The signature has the prefix ${JSON.stringify(part.slice(0, part.length - bare.length))}.`,
            ),
          ];
    yield* decoded(bare, [...space, ...steps], time);
  }
  const unescaped = trimmed.replace(/%([2-3][0-9a-f])/gi, (_, hex) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  if (unescaped !== trimmed)
    yield* decoded(unescaped, [toStep('signature_encoding', 'The signature is percent-encoded.')]);
  const joined = trimmed.replace(/[\s:-]+/g, '');
  if (joined !== trimmed && /^[0-9a-f]+$/i.test(joined))
    yield* decoded(joined, [
      toStep('signature_encoding', 'The digits of the signature have separators between them.'),
    ]);
}

function toStep(code: Step['code'], message: string): Step {
  return step(code, 'signing', message);
}

function* decoded(
  text: string,
  steps: readonly Step[],
  time?: string,
): Generator<Candidate<Target>> {
  if (/^(?:[0-9a-f]{2})+$/i.test(text)) {
    yield* ofBytes(Buffer.from(text, 'hex'), steps, time);
  } else if (/^[0-9a-f]+$/i.test(text)) {
    yield* ofBytes(Buffer.from(text.slice(0, -1), 'hex'), steps, time);
  }
  if (!/^[\w+/-]{20,}={0,2}$/.test(text)) return;
  const bytes = Buffer.from(text, 'base64');
  const kind =
    /[-_]/.test(text) || (!text.endsWith('=') && bytes.length % 3 !== 0)
      ? 'Base64 for URLs or without ='
      : 'Base64';
  const inBase64 = toStep(
    'signature_encoding',
    `The signature is in ${kind}, and not in hexadecimal.`,
  );
  yield* ofBytes(bytes, [...steps, inBase64], time);
  const inner = bytes.toString('latin1');
  if (/^(?:[0-9a-f]{2})+$/i.test(inner))
    yield* ofBytes(
      Buffer.from(inner, 'hex'),
      [
        ...steps,
        toStep('signature_encoding', 'The signature is the Base64 of its hexadecimal digits.'),
      ],
      time,
    );
}

function* ofBytes(
  bytes: Buffer,
  steps: readonly Step[],
  time: string | undefined,
): Generator<Candidate<Target>> {
  const beside = time === undefined ? {} : { time };
  const digests = DIGESTS[bytes.length];
  if (digests !== undefined) yield { value: { bytes, digests, ...beside }, steps };
  if (bytes.length >= FEWEST && bytes.length < 64) {
    const cut = toStep(
      'signature_cut',
      'The signature was cut short: it has to have 128 hexadecimal digits.',
    );
    yield { value: { bytes, digests: ['sha512'], ...beside }, steps: [...steps, cut] };
  } else if (bytes.length > 64) {
    const longer = toStep(
      'signature_twice',
      'Something stands behind the signature, which has 128 hexadecimal digits.',
    );
    yield {
      value: { bytes: bytes.subarray(0, 64), digests: ['sha512'], ...beside },
      steps: [...steps, longer],
    };
  }
}
