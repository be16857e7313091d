import type * as full from './whole-record.js';

/** Reads field by field: Workers forbid code generation, so zod's compiler would only make a Worker larger. */
export const toReader: typeof full.toReader = (shape) => {
  const fields = Object.entries(shape);
  return (input) => {
    const record: Record<string, unknown> = {};
    for (const [name, field] of fields) {
      const { success, data } = field.safeParse(Reflect.get(input, name));
      if (!success) return undefined;
      if (name in input) record[name] = data;
    }
    return record;
  };
};
