import * as z from 'zod/mini';
import type { JsonObject } from '../../schemas/values.js';
import { noSuch } from '../fault.js';
import { check, type Sent } from '../service/form.js';
import type { Market } from '../trade/market.js';

/** An operation that only a sandbox has. */
export interface ControlOperation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path, with `:id` for the id of a record. */
  readonly path: `/sandbox/${string}`;
  readonly summary: string;
  readonly status: 200 | 201 | 204;
  /** The JSON Schema of the answer; absent for 204. */
  readonly returned?: JsonObject;
  readonly sent: z.ZodMiniType;
  run(market: Market, id: string, sent: Sent): Promise<object | undefined>;
}

interface Definition<Schema extends z.ZodMiniObject>
  extends Pick<ControlOperation, 'method' | 'path' | 'summary' | 'status' | 'returned'> {
  readonly sent: Schema;
  run(
    market: Market,
    sent: z.output<Schema>,
    id: string,
  ): object | undefined | Promise<object | undefined>;
}

/** The schema of an operation without parameters. */
export const NOTHING = z.object({});

/** Defines an operation whose `run` gets the parameters after its schema has checked them. */
export function operation<Schema extends z.ZodMiniObject>(
  definition: Definition<Schema>,
): ControlOperation {
  const { sent: schema, run } = definition;
  return {
    ...definition,
    run: async (market, id, sent) => run(market, check(schema, sent, unknownNames(schema)), id),
  };
}

/** Returns a check that reports unknown parameters, which the schema would ignore silently. */
function unknownNames({ shape }: z.ZodMiniObject) {
  const names = Object.keys(shape);
  return (parameters: JsonObject) =>
    Object.keys(parameters)
      .filter((name) => !names.includes(name))
      .map((name) => noSuch(name, name, names));
}
