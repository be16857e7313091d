/** The place of a fault, which decides what to change. */
export type Place = 'parser' | 'transport' | 'secret' | 'signing';

const CAME_IN = 'The body arrived in {}: the sender signed it before that.';

/** The causes by their stable code: the place, and a sentence in which {} stands for a detail. */
const TEXTS = {
  // The body, on its way.
  reserialized: ['parser', 'A program parsed the body and wrote it again: it was sent as {}.'],
  number_rewritten: ['parser', 'A parser rewrote numbers of the body: they were sent as {}.'],
  date_rewritten: ['parser', 'A parser rewrote dates of the body: they were sent as {}.'],
  value_rewritten: ['parser', 'A program changed values of the body: {}.'],
  members_reordered: ['parser', 'A program reordered members of the body: they were sent {}.'],
  members_renamed: ['parser', 'A program renamed members of the body: {}.'],
  line_end_lost: ['transport', 'The body was sent with {} at its end, which was lost on the way.'],
  line_end_gained: ['transport', 'A program added {} to the body.'],
  line_ends_converted: [
    'transport',
    'The line ends of the body were changed: they were sent as {}.',
  ],
  white_space_gained: ['transport', 'A program added white space {} the body.'],
  bom_lost: ['transport', 'The byte order mark before the body was removed, as text() does.'],
  bom_gained: ['transport', 'A program added a byte order mark before the body.'],
  charset_converted: ['transport', 'The charset of the body was changed on the way: {}.'],
  encoded_twice: [
    'parser',
    'The body was encoded as JSON twice: it is a JSON text that contains JSON.',
  ],
  decoded: ['parser', 'The body was sent {}, and a program decoded it.'],
  form_encoded: ['transport', 'The body is a form, but the sender signed {}.'],
  form_decoded: ['parser', 'A program read the body as a form: {}.'],
  percent_encoded: ['transport', CAME_IN],
  base64_encoded: ['transport', CAME_IN],
  hex_encoded: ['transport', CAME_IN],
  compressed: ['transport', 'The body is compressed with {}: the sender signed it before that.'],
  decompressed: [
    'transport',
    'The sender signed the compressed body, which was decompressed on the way.',
  ],
  wrapped: ['parser', 'The body was put into an envelope: the sender signed the value at {}.'],
  escaped: ['transport', CAME_IN],
  printed: ['parser', 'A program read the body and printed it in another form: it is {}.'],
  normalized: ['transport', 'The Unicode form of the body was changed: it was sent in {}.'],
  characters_lost: ['transport', 'A character of the body was lost: {}.'],
  framed: ['transport', 'The body contains a part of the HTTP message: {}.'],
  bytes_gained: ['transport', 'A program added {} the body.'],
  cut_short: ['transport', 'The body was cut short: {}.'],
  changed: ['transport', '{}'],
  // The secret.
  other_secret: ['secret', 'The sender signed with another of the given secrets: with {}.'],
  api_key: ['secret', 'The sender signed with the API key in {}.'],
  known_secret: ['secret', 'The sender signed with {}.'],
  secret_white_space: ['secret', '{} has white space in it or around it, such as a line end.'],
  secret_quoted: ['secret', '{} has other characters around it, such as quotes or a comment.'],
  secret_prefix: ['secret', '{} begins with a prefix, such as whsec_, that is not part of it.'],
  secret_encoding: ['secret', 'The key is the secret in {}.'],
  secret_case: [
    'secret',
    'The secret in {} and the secret of the signer differ in upper and lower case.',
  ],
  secret_cut: ['secret', 'The signer has only the beginning of the secret in {}.'],
  secret_short: ['secret', 'The secret in {}: copy it again.'],
  secret_twice: ['secret', 'The secret in {} was pasted twice.'],
  secret_expanded: ['secret', 'A shell changed a $ or a backslash of the secret in {}.'],
  // The signed bytes, and the signing.
  other_message: ['signing', 'The sender signed {}, and not the body alone.'],
  other_digest: ['signing', 'The sender signed with HMAC-{}, and not with HMAC-SHA512.'],
  no_hmac: ['signing', 'The signature is the {}, and not an HMAC.'],
  swapped: [
    'signing',
    'The sender swapped key and message: it signed the secret with the body as the key.',
  ],
  signature_encoding: ['signing', 'The signature is in {}: it must be 128 hexadecimal digits.'],
  signature_prefix: ['signing', 'The signature has {} before it.'],
  signature_white_space: ['signing', 'The signature has white space or quotes around it.'],
  signature_cut: ['signing', 'The signature was cut short: it must have 128 hexadecimal digits.'],
  signature_twice: [
    'signing',
    'The header has another signature, or more digits, beside the signature.',
  ],
} as const satisfies Record<string, readonly [Place, string]>;

export type CauseCode = keyof typeof TEXTS;

export const CAUSES = Object.keys(TEXTS) as readonly CauseCode[];

/** One change of a delivery, of a secret or of a signature. */
export interface Step {
  readonly code: CauseCode;
  readonly place: Place;
  /** Describes the change in one sentence. */
  readonly message: string;
}

/** A possible earlier value, and the steps that lead from it to the received one. */
export interface Candidate<Value> {
  readonly value: Value;
  readonly steps: readonly Step[];
}

export function step(code: CauseCode, detail = ''): Step {
  const [place, text] = TEXTS[code];
  return { code, place, message: text.replace('{}', () => detail) };
}
