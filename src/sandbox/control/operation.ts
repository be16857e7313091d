import * as z from 'zod/mini';
import type { JsonObject } from '../../schemas/values.js';
import { check, type Sent } from '../service/form.js';
import type { Market } from '../trade/market.js';
import { unknownNames } from './parameters.js';

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
    async run(market, id, sent) {
      const checked = check(schema, sent, (parameters) => unknownNames(schema, parameters));
      return run(market, checked, id);
    },
  };
}
