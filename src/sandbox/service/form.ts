import qs from 'qs';
import type * as z from 'zod/mini';
import { findFaults } from '../../api/validation.js';
import { isJsonObject, type JsonObject } from '../../schemas/json.js';
import { ErrorAnswer } from './answers.js';

/** What a request holds, before it is checked. */
export interface Sent {
  readonly fields: JsonObject;
  /** Whether all of it is text, as in a form. */
  readonly isText: boolean;
}

/** More than any body within the limit has. */
const MOST = 100_000;

/**
 * Reads a body: JSON, or a form whose arrays are `name[index]` (specification: Rules for all endpoints) or a name that
 * comes again.
 *
 * @throws {ErrorAnswer} 400
 */
export function readBody(contentType: string | undefined, body: string): Sent {
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase();
  if (type === 'application/json') return { fields: readJson(body), isText: false };
  if (type === '' || type === 'application/x-www-form-urlencoded') return readForm(body);
  throw invalid('the body has to be application/x-www-form-urlencoded, or JSON');
}

/** Reads a form, or the query of a URL. */
export function readForm(text: string): Sent {
  const fields: JsonObject = qs.parse(text, {
    arrayLimit: MOST,
    parameterLimit: MOST,
    depth: 5,
    strictDepth: false,
    // As generated clients send a list: by its name, once for each.
    duplicates: 'combine',
  });
  return { fields, isText: true };
}

function readJson(body: string): JsonObject {
  try {
    const parsed: unknown = body === '' ? {} : JSON.parse(body);
    if (isJsonObject(parsed)) return parsed;
  } catch {}
  throw invalid('the body has to be an object in JSON');
}

/**
 * What was sent, as a schema has it.
 *
 * @param findMore - Finds what fails beside the schema.
 * @throws {ErrorAnswer} 400, with an error for each check that failed.
 */
export function check<Schema extends z.ZodMiniType>(
  schema: Schema,
  sent: Sent,
  findMore: (parameters: JsonObject) => readonly string[] = () => [],
): z.output<Schema> {
  const parameters = toParameters(schema, sent);
  // What both find is one check that failed.
  const errors = [...new Set([...findFaults(schema, parameters), ...findMore(parameters)])];
  if (errors.length > 0) throw new ErrorAnswer(400, { errors });
  return schema.parse(parameters);
}

/** The values of what was sent, which may not be what the schema takes. */
export function toParameters(schema: z.ZodMiniType, { fields, isText }: Sent): JsonObject {
  return isText ? { ...Object(fromText(schema, fields)) } : fields;
}

/** A 400 with one error. */
export function invalid(error: string): ErrorAnswer {
  return new ErrorAnswer(400, { errors: [error] });
}

/**
 * Text of a form as what a schema takes there: `true`, `12`, an empty value for `null`, `name[]=` for an empty
 * list. What is none of these stays as it is, to be refused.
 */
function fromText(schema: z.core.$ZodType, value: unknown): unknown {
  // The types of zod that there are, by which zod itself tells them apart.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'optional':
    case 'default':
      return value === undefined ? undefined : fromText(def.innerType, value);
    case 'nullable':
      return value === '' ? null : fromText(def.innerType, value);
    case 'number':
      return typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;
    case 'literal':
      return def.values.find((literal) => String(literal) === value) ?? value;
    case 'boolean':
      return typeof value === 'string' ? (BOOLEANS[value] ?? value) : value;
    case 'array':
      if (typeof value !== 'string' && !Array.isArray(value)) return value;
      return [value].flat().join('') === ''
        ? []
        : [value].flat().map((item) => fromText(def.element, item));
    case 'object':
      return isJsonObject(value) ? fieldsFromText(def.shape, value) : value;
    case 'union':
      return def.options.reduce((rest: unknown, option) => fromText(option, rest), value);
    default:
      return value;
  }
}

const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, 1: true, false: false, 0: false };

function fieldsFromText(
  shape: Readonly<Record<string, z.core.$ZodType>>,
  fields: JsonObject,
): JsonObject {
  const entries = Object.entries(fields).map(([name, value]) => {
    const schema = shape[name];
    return [name, schema ? fromText(schema, value) : value];
  });
  return Object.fromEntries(entries);
}
