import * as z from 'zod/mini';
import { FIELDS, type ResourceSchema } from '../../schemas/resource.js';
import { decimal, timestamp } from '../../schemas/values.js';
import { amount } from '../parameters.js';

/** A JSON Schema in the dialect of OpenAPI 3.1. */
export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Returns the JSON Schema of a request's parameters. */
export function parametersToJsonSchema(schema: z.ZodMiniType): JsonSchema {
  const { $schema: _, ...converted } = z.toJSONSchema(schema, { ...OPTIONS, io: 'input' });
  return converted;
}

/**
 * Returns the JSON Schemas of records by name, with all fields that the specification lists. An absent field
 * is `null`. A record inside another one is a reference.
 */
export function recordsToJsonSchemas(
  records: Readonly<Record<string, ResourceSchema<object> | z.ZodMiniObject>>,
): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, record] of Object.entries(records)) {
    const fields = FIELDS in record ? record[FIELDS] : undefined;
    const schema = fields ? z.looseObject({ ...fields.required, ...fields.rest }) : record;
    if (schema instanceof z.ZodMiniObject) registry.add(schema, { id });
  }
  const { schemas } = z.toJSONSchema(registry, {
    ...OPTIONS,
    uri: (id) => `#/components/schemas/${id}`,
  });
  const converted = Object.entries(schemas).map(([id, { $schema: _, $id: __, ...schema }]) => [
    id,
    schema,
  ]);
  return Object.fromEntries(converted);
}

const OPTIONS: z.core.ToJSONSchemaParams = {
  unrepresentable: ({ zodSchema }) => describe(zodSchema),
  override: ({ jsonSchema, path }) => {
    // zod adds its own bounds to every integer.
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    // All records may have other fields. The schemas do not repeat that.
    delete jsonSchema.additionalProperties;
    if (/_at$/.test(String(path.at(-1)))) jsonSchema.format = 'date-time';
  },
};

const DECIMAL = { type: 'string' as const, pattern: '^-?\\d+([.]\\d+)?$' };

/** Values of each type. A schema that is a function, which zod cannot convert, is tested with them. */
const SAMPLES = {
  string: ['text', '1', '∞'],
  integer: [1],
  object: [{}],
} as const;

function describe(schema: z.core.$ZodType): z.core.JSONSchema.BaseSchema {
  if (schema === decimal) return DECIMAL;
  if (schema === timestamp) return { type: 'string' };
  if (schema === amount) return { anyOf: [{ type: 'number' }, DECIMAL] };
  const types = (['string', 'integer', 'object'] as const).filter((type) =>
    SAMPLES[type].some((sample) => z.safeParse(schema, sample).success),
  );
  return { anyOf: types.map((type) => ({ type })) };
}
