import { isJsonObject, type JsonObject } from '../../schemas/values.js';
import comments from './descriptions.json' with { type: 'json' };

/**
 * The doc comments of the fields of each record, and of a payment's parameters. `test/full/editor.test.ts`
 * writes them.
 */
const DESCRIPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = comments;

/**
 * Adds descriptions to the properties of a schema.
 *
 * @param record - The record whose fields have these names.
 * @param path - The path of the schema in the record, with a dot at the end.
 */
export function describe(schema: JsonObject, record: string, path = ''): JsonObject {
  const { properties, items, oneOf } = schema;
  const describeField = ([name, field]: [string, unknown]) => [
    name,
    {
      ...describe(Object(field), record, `${path}${name}.`),
      description: DESCRIPTIONS[record]?.[path + name],
    },
  ];
  return {
    ...schema,
    ...(isJsonObject(properties) && {
      properties: Object.fromEntries(Object.entries(properties).map(describeField)),
    }),
    ...(isJsonObject(items) && { items: describe(items, record, path) }),
    ...(Array.isArray(oneOf) && { oneOf: oneOf.map((one) => describe(Object(one), record, path)) }),
  };
}
