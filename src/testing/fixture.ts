import * as z from 'zod/mini';
import { OUTCOMES, type Outcome } from '../request/outcome.js';
import type { Json } from '../schemas/values.js';

/** A saved delivery, ready to be sent. Made by {@link loadFixture}. */
export interface Fixture {
  /** The file it came from. */
  readonly file: string;
  readonly event: string;
  readonly description: string;
  readonly method: string;
  /** In the order of the file. A name may occur twice. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  readonly signing: Signing;
  /** JSON pointers to values that were removed before the delivery was saved. */
  readonly redacted: readonly string[];
  /**
   * The expected answer of a receiver with handlers for every known event, or of goods, which send no outcome
   * over HTTP.
   */
  readonly expect: { readonly status: number; readonly outcome?: Outcome | undefined } | undefined;
}

const expectation = z.strictObject({
  status: z.int(),
  outcome: z.optional(z.enum(OUTCOMES)),
});

const headers = z.array(z.tuple([z.string(), z.string()]));
const signing = z.enum(['keep', 'resign', 'omit', 'corrupt']);

/** How the signature header of a fixture is made when it is sent. */
export type Signing = z.output<typeof signing>;

const checks = { bytes: z.optional(z.int()), sha256: z.optional(z.string()) };

/** The format of a file with a whole delivery. */
export const wholeFile = z.strictObject({
  v: z.literal(1),
  event: z.string(),
  description: z.optional(z.string()),
  method: z.optional(z.string()),
  headers,
  body: z.union([
    z.strictObject({ text: z.string(), ...checks }),
    z.strictObject({ base64: z.string(), ...checks }),
  ]),
  signing: z.optional(signing),
  redacted: z.optional(z.array(z.string())),
  expect: z.optional(expectation),
});

/** The format of a file that changes another one. */
export const variantFile = z.strictObject({
  v: z.literal(1),
  extends: z.string(),
  event: z.optional(z.string()),
  description: z.optional(z.string()),
  method: z.optional(z.string()),
  /** Headers that replace headers of the same names. */
  headers: z.optional(headers),
  /** A merge patch (RFC 7396) for the body, which is then sent as compact JSON. */
  merge: z.optional(z.custom<Json>((value) => value !== undefined)),
  signing: z.optional(signing),
  redacted: z.optional(z.array(z.string())),
  expect: z.optional(expectation),
});

export type WholeFile = z.output<typeof wholeFile>;
export type VariantFile = z.output<typeof variantFile>;
