import * as z from 'zod/mini';
import type { JsonObject } from '../../schemas/json.js';
import { noSuch } from '../fault.js';
import { check, type Sent } from '../service/form.js';
import type { Market } from '../trade/market.js';

/** Something that only a sandbox can be asked. */
export interface ControlOperation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With `:id` where the id of a record goes. */
  readonly path: `/sandbox/${string}`;
  readonly summary: string;
  readonly status: 200 | 201 | 204;
  /** Of the answer, in JSON Schema; there is none with 204. */
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

/** Of an operation that takes nothing. */
export const NOTHING = z.object({});

/** An operation that is given what was sent as its schema has it. */
export function operation<Schema extends z.ZodMiniObject>(
  definition: Definition<Schema>,
): ControlOperation {
  const { sent: schema, run } = definition;
  return {
    ...definition,
    run: async (market, id, sent) => run(market, check(schema, sent, unknownNames(schema)), id),
  };
}

/** Finds what a sandbox is asked by a name that it does not know, which would else be left out without a word. */
function unknownNames({ shape }: z.ZodMiniObject) {
  const names = Object.keys(shape);
  return (parameters: JsonObject) =>
    Object.keys(parameters)
      .filter((name) => !names.includes(name))
      .map((name) => noSuch(name, name, names));
}
