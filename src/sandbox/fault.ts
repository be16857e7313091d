import * as z from 'zod/mini';
import { ERRORS } from '../api/endpoint.js';
import { endpoints } from '../api/endpoints.js';
import { findFaults } from '../api/validation.js';
import { didYouMean } from '../report/text.js';

/** What the client calls an endpoint, such as `orders.get`. */
export type OperationId = {
  [Group in keyof typeof endpoints]: `${Group}.${Extract<keyof (typeof endpoints)[Group], string>}`;
}[keyof typeof endpoints];

/** Which calls a fault strikes. */
interface Calls {
  /** How many calls it strikes. Default 1. */
  times?: number | undefined;
  /** How many calls it lets pass before that. Default 0. */
  after?: number | undefined;
  /** Strikes `times` of so many calls, which `seed` picks. Default: one call after the other. */
  among?: number | undefined;
  /** Picks among the calls. Default 1. */
  seed?: number | undefined;
}

/** An endpoint answers with an error (specification: Errors). */
export interface AnswerFault extends Calls {
  operation: OperationId;
  status: keyof typeof ERRORS;
  /** What `Retry-After` tells the client to wait. Default: there is no such header. */
  seconds?: number | undefined;
}

/** An attempt to send a webhook, or to call a dynamic product, does not go as it should. */
export interface SendFault extends Calls {
  operation: 'webhooks.send';
  /**
   * `lose`: it never arrives, so that it is sent again. `lose-answer`: it arrives, and its answer never comes, so
   * that it is sent again. `duplicate`: it is sent twice. `late`: it is sent after `ms`. `reorder`: it is sent after
   * the next one to the same URL, or after `ms` where there is none.
   */
  effect: 'lose' | 'lose-answer' | 'duplicate' | 'late' | 'reorder';
  /** How late, in milliseconds of the sandbox's time. Default one minute. */
  ms?: number | undefined;
}

/** What goes wrong, and when. Faults are counted, so that a test knows which calls they strike. */
export type Fault = AnswerFault | SendFault;

const OPERATIONS = Object.entries(endpoints).flatMap(([group, rows]) =>
  // The names of the groups and their rows are what OperationId is made of.
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

/** What is wrong with a fault, a text for each check that failed. */
export function findWrong(given: Readonly<Record<string, unknown>>): string[] {
  const names: readonly string[] = [...OPERATIONS, SEND];
  const operation = String(given.operation);
  if (!names.includes(operation)) return [noSuch(`operation ${operation}`, operation, names)];
  const schema = operation === SEND ? sendFault : answerFault;
  const known = Object.keys(schema.shape);
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  return unknown === undefined ? findFaults(schema, given) : [noSuch(unknown, unknown, known)];
}

/** Says that there is nothing of a name, and what there is. */
export function noSuch(what: string, given: string, names: readonly string[]): string {
  if (names.length === 0) return `there is no ${what}`;
  return `there is no ${what}. ${didYouMean(given, names)}There are ${names.join(', ')}`;
}

/** What a fault is made of, of either kind. */
export const faultSchema = z.discriminatedUnion('operation', [answerFault, sendFault]);
