import * as z from 'zod/mini';
import { amount } from '../../api/parameters.js';
import { findFaults } from '../../api/validation.js';
import { GATEWAYS } from '../../schemas/product.js';
import { jsonObject } from '../../schemas/values.js';
import { noSuch } from '../fault.js';
import { Refusal } from '../trade/refusal.js';
import { canSign } from '../webhooks/can-sign.js';

// An empty text is only reported as empty.
const text = z.string().check(z.minLength(1, { abort: true }));

/** The parameters of the operations that an account in this process has, too. Both check them alike. */
export const PARAMETERS = {
  buy: z.object({
    product_id: text,
    quantity: z.optional(z.int().check(z.minimum(1))),
    gateway: z.optional(text),
    email: z.optional(text),
    ip_address: z.optional(text),
    country_code: z.optional(z.string().check(z.regex(/^[A-Za-z]{2}$/, 'has to be of ISO 3166-1'))),
    user_agent: z.optional(z.string()),
    risk_level: z.optional(z.int().check(z.minimum(0), z.maximum(100))),
    vpn: z.optional(z.boolean()),
    referral: z.optional(z.nullable(z.string())),
    custom: z.optional(jsonObject),
  }),
  pay: z.object({ value: z.optional(amount), pending: z.optional(z.boolean()) }),
  confirm: z.object({ confirmations: z._default(z.int().check(z.minimum(1)), 1) }),
  rate: z.object({ rating: z.int().check(z.minimum(1), z.maximum(5)), message: z.string() }),
  ask: z.object({ email: text, title: text, message: text }),
  write: z.object({ from: z.enum(['seller', 'customer']), text }),
  set: z.partial(
    z.object({
      gateways: z.array(z.enum(GATEWAYS)),
      webhook_secret: text.check(
        z.refine(
          canSign,
          'has to be a text to sign with: not blank, and not the text of a missing value, such as "undefined"',
        ),
      ),
      read_only: z.boolean(),
    }),
  ),
};

/** Returns an error for each unknown parameter, which the schema would ignore silently. */
export function unknownNames({ shape }: z.ZodMiniObject, parameters: object): string[] {
  const names = Object.keys(shape);
  return Object.keys(parameters)
    .filter((name) => !names.includes(name))
    .map((name) => noSuch(name, name, names));
}

/**
 * Checks the parameters of a call in this process, and returns the schema's output.
 *
 * @throws {Refusal} `parameter_invalid`, with the errors that the operation lists over HTTP.
 */
export function checkCall<Schema extends z.ZodMiniObject>(
  schema: Schema,
  parameters: object,
): z.output<Schema> {
  const errors = [...findFaults(schema, parameters), ...unknownNames(schema, parameters)];
  if (errors.length > 0) throw new Refusal('parameter_invalid', errors.join('; '));
  return schema.parse(parameters);
}
