import * as z from 'zod/mini';
import { OUTCOMES, type Outcome } from '../outcome.js';
import type { Json } from '../schemas/json.js';

/** One saved delivery, ready to be sent. Made by {@link loadFixture}. */
export interface Fixture {
  /** The file it came from. */
  readonly file: string;
  readonly event: string;
  readonly description: string;
  readonly method: string;
  /** In the order of the file; a name may stand there twice. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  readonly signing: Signing;
  /** JSON pointers to what was taken out before it was saved. */
  readonly redacted: readonly string[];
  /** The answer of a receiver with handlers for every known event, or of goods: those say no outcome over HTTP. */
  readonly expect: { readonly status: number; readonly outcome?: Outcome | undefined } | undefined;
}

const expectation = z.strictObject({
  status: z.int(),
  outcome: z.optional(z.enum(OUTCOMES)),
});

const headers = z.array(z.tuple([z.string(), z.string()]));
const signing = z.enum(['keep', 'resign', 'omit', 'corrupt']);

/** How a fixture's signature header is made when it is sent. */
export type Signing = z.output<typeof signing>;

const checks = { bytes: z.optional(z.int()), sha256: z.optional(z.string()) };

/** A file with a delivery of its own. */
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

/** A file that changes another one. */
export const variantFile = z.strictObject({
  v: z.literal(1),
  extends: z.string(),
  event: z.optional(z.string()),
  description: z.optional(z.string()),
  method: z.optional(z.string()),
  /** Over those of the same name. */
  headers: z.optional(headers),
  /** A merge patch (RFC 7396) for the body, which is then written as compact JSON. */
  merge: z.optional(z.custom<Json>((value) => value !== undefined)),
  signing: z.optional(signing),
  redacted: z.optional(z.array(z.string())),
  expect: z.optional(expectation),
});

export type WholeFile = z.output<typeof wholeFile>;
export type VariantFile = z.output<typeof variantFile>;
