import * as z from 'zod/mini';
import { ERRORS } from '../api/endpoint.js';
import { endpoints } from '../api/endpoints.js';
import { findFaults } from '../api/validation.js';
import { didYouMean } from '../errors/text.js';

/** The client's name of an endpoint, such as `orders.get`. */
export type OperationId = {
  [Group in keyof typeof endpoints]: `${Group}.${Extract<keyof (typeof endpoints)[Group], string>}`;
}[keyof typeof endpoints];

/** The calls that a fault strikes. */
interface Calls {
  /** The number of calls that the fault strikes. Default 1. */
  times?: number | undefined;
  /** The number of calls that pass before the fault begins. Default 0. */
  after?: number | undefined;
  /** The number of calls from which `seed` picks the `times` calls to strike. Default: consecutive calls. */
  among?: number | undefined;
  /** Determines which calls are picked. Default 1. */
  seed?: number | undefined;
}

/** A fault of an endpoint, which answers with an error (specification: Errors). */
export interface AnswerFault extends Calls {
  operation: OperationId;
  status: keyof typeof ERRORS;
  /** The seconds in `Retry-After`. Default: no such header. */
  seconds?: number | undefined;
}

/** A fault of an attempt to send a webhook, or to call a dynamic product. */
export interface SendFault extends Calls {
  operation: 'webhooks.send';
  /**
   * `lose`: the webhook never arrives, and is retried. `lose-answer`: the webhook arrives, but its answer does
   * not, so the webhook is retried. `duplicate`: the webhook is sent twice. `late`: the webhook is sent after
   * `ms`. `reorder`: the webhook is sent after the next one to the same URL, or after `ms` if no other follows.
   */
  effect: 'lose' | 'lose-answer' | 'duplicate' | 'late' | 'reorder';
  /** The delay, in milliseconds of the sandbox's time. Default one minute. */
  ms?: number | undefined;
}

/**
 * An error that the sandbox makes on purpose. Faults count calls, so that a test knows which calls they strike.
 */
export type Fault = AnswerFault | SendFault;

const OPERATIONS = Object.entries(endpoints).flatMap(([group, rows]) =>
  // OperationId is made of the same names of groups and rows.
  Object.keys(rows).map((name) => `${group}.${name}` as OperationId),
);
const SEND = 'webhooks.send';

const count = z.int().check(z.minimum(1), z.maximum(100_000));
const calls = {
  times: z.optional(count),
  after: z.optional(z.int().check(z.minimum(0), z.maximum(100_000))),
  among: z.optional(count),
  seed: z.optional(z.int()),
};
const statuses = Object.keys(ERRORS).map(Number) as (keyof typeof ERRORS)[];

const answerFault = z.object({
  operation: z.enum(OPERATIONS),
  status: z.literal(statuses),
  seconds: z.optional(z.int().check(z.minimum(0))),
  ...calls,
});
const sendFault = z.object({
  operation: z.literal(SEND),
  effect: z.enum(['lose', 'lose-answer', 'duplicate', 'late', 'reorder']),
  ms: z.optional(z.int().check(z.minimum(0))),
  ...calls,
});

/** Returns what is wrong with a fault, one text for each failed check. */
export function findWrong(given: Readonly<Record<string, unknown>>): string[] {
  const names: readonly string[] = [...OPERATIONS, SEND];
  const operation = String(given.operation);
  if (!names.includes(operation)) return [noSuch(`operation ${operation}`, operation, names)];
  const schema = operation === SEND ? sendFault : answerFault;
  const known = Object.keys(schema.shape);
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  return unknown === undefined ? findFaults(schema, given) : [noSuch(unknown, unknown, known)];
}

/** Returns the message for an unknown name, with the known names. */
export function noSuch(what: string, given: string, names: readonly string[]): string {
  if (names.length === 0) return `there is no ${what}`;
  return `there is no ${what}. ${didYouMean(given, names)}There are ${names.join(', ')}`;
}

/** The schema of both kinds of fault. */
export const faultSchema = z.discriminatedUnion('operation', [answerFault, sendFault]);
