/** What was done to a delivery, by a name that does not change. */
export const CAUSES = [
  // The body, on its way.
  'reserialized',
  'number_rewritten',
  'date_rewritten',
  'value_rewritten',
  'members_reordered',
  'line_end_lost',
  'line_end_gained',
  'line_ends_converted',
  'white_space_gained',
  'bom_lost',
  'bom_gained',
  'charset_converted',
  'encoded_twice',
  'decoded',
  'form_encoded',
  'form_decoded',
  'percent_encoded',
  'base64_encoded',
  'hex_encoded',
  'compressed',
  'decompressed',
  'wrapped',
  'escaped',
  'printed',
  'normalized',
  'framed',
  'bytes_gained',
  'cut_short',
  'changed',
  // The secret.
  'other_secret',
  'api_key',
  'known_secret',
  'secret_white_space',
  'secret_quoted',
  'secret_prefix',
  'secret_encoding',
  'secret_case',
  // What was signed, and how.
  'other_message',
  'other_digest',
  'no_hmac',
  'swapped',
  'signature_encoding',
  'signature_prefix',
  'signature_white_space',
  'signature_cut',
  'signature_twice',
] as const;

export type CauseCode = (typeof CAUSES)[number];

/** Where a fault is, which says what has to be changed. */
export type Place = 'parser' | 'transport' | 'secret' | 'signing';

/** One thing that was done. */
export interface Step {
  readonly code: CauseCode;
  readonly place: Place;
  /** What happened, in one sentence for a person. */
  readonly message: string;
}

/** Something that may have been there before, and the steps that lead from it to what is at hand. */
export interface Candidate<Value> {
  readonly value: Value;
  readonly steps: readonly Step[];
}

export function step(code: CauseCode, place: Place, message: string): Step {
  return { code, place, message };
}
