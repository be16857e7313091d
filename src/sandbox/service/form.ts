import qs from 'qs';
import type * as z from 'zod/mini';
import { findFaults } from '../../api/validation.js';
import { isJsonObject, type JsonObject } from '../../schemas/values.js';
import { ErrorAnswer } from './answers.js';

/** The parameters of a request, before they are checked. */
export interface Sent {
  readonly fields: JsonObject;
  /** Whether all values are text, as in a form. */
  readonly isText: boolean;
}

/** The limit for the parameters of a form and the entries of a list. Real requests have fewer. */
const MOST = 5_000;
/** The limit for the levels of objects and lists in JSON. JSON.stringify fails at some thousands. */
const DEEPEST = 100;

/**
 * Reads a body: JSON, or a form. A form sends an array as `name[index]` (specification: Rules for all
 * endpoints), or by repeating its name.
 *
 * @throws {ErrorAnswer} 400
 */
export function readBody(contentType: string | undefined, body: string): Sent {
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase();
  if (type === 'application/json') {
    const fields = readJson(body);
    if (isTooDeep(fields)) {
      throw invalid(`the body may be nested at most ${DEEPEST} levels deep`);
    }
    if (Object.values(fields).some((value) => Array.isArray(value) && value.length > MOST)) {
      throw invalid(`a list may have at most ${MOST} entries`);
    }
    return { fields, isText: false };
  }
  if (type === '' || type === 'application/x-www-form-urlencoded') return readForm(body);
  throw invalid('the body has to be application/x-www-form-urlencoded, or JSON');
}

/**
 * Reads a form, or the query of a URL.
 *
 * @throws {ErrorAnswer} 400
 */
export function readForm(text: string): Sent {
  if (text.split('&', MOST + 1).length > MOST) {
    throw invalid(`there may be at most ${MOST} parameters`);
  }
  const parsed = qs.parse(text, {
    // qs takes quadratic time for lists that it makes itself, so withLists() makes them.
    arrayLimit: 0,
    parameterLimit: MOST,
    depth: 5,
    strictDepth: false,
    // Generated clients send a list by repeating its name.
    duplicates: 'combine',
  });
  const fields = Object.entries(parsed).map(([name, value]) => [name, withLists(value)]);
  return { fields: Object.fromEntries(fields), isText: true };
}

/** Turns objects whose names are all indexes into lists. */
function withLists(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([name, item]) => [name, withLists(item)] as const);
  const isList = entries.every(([name]) => /^(0|[1-9]\d*)$/.test(name));
  return isList ? entries.map(([, item]) => item) : Object.fromEntries(entries);
}

function readJson(body: string): JsonObject {
  try {
    const parsed: unknown = body === '' ? {} : JSON.parse(body);
    if (isJsonObject(parsed)) return parsed;
  } catch {}
  throw invalid('the body has to be an object in JSON');
}

/** Returns whether objects and lists are nested too deeply. Goes level by level: a recursion could fail, too. */
function isTooDeep(fields: object): boolean {
  const isNest = (value: unknown) => typeof value === 'object' && value !== null;
  let level = [fields];
  for (let depth = 1; depth <= DEEPEST; depth++) {
    level = level.flatMap((nest) => Object.values(nest).filter(isNest));
  }
  return level.length > 0;
}

/**
 * Checks parameters, and returns the schema's output.
 *
 * @param findMore - Returns the errors that the schema cannot find.
 * @throws {ErrorAnswer} 400, with an error for each failed check.
 */
export function check<Schema extends z.ZodMiniType>(
  schema: Schema,
  sent: Sent,
  findMore: (parameters: JsonObject) => readonly string[] = () => [],
): z.output<Schema> {
  const parameters = toParameters(schema, sent);
  // An error that both find counts once.
  const errors = [...new Set([...findFaults(schema, parameters), ...findMore(parameters)])];
  if (errors.length > 0) throw new ErrorAnswer(400, { errors });
  return schema.parse(parameters);
}

/** Returns the parameters, not yet checked. The text of a form is converted to the types of the schema. */
export function toParameters(schema: z.ZodMiniType, { fields, isText }: Sent): JsonObject {
  return isText ? { ...Object(fromText(schema, fields)) } : fields;
}

/** Returns a 400 with one error. */
export function invalid(error: string): ErrorAnswer {
  return new ErrorAnswer(400, { errors: [error] });
}

/**
 * Converts the text of a form to the type of a schema: `true`, `12`, an empty value for `null`, `name[]=` for an
 * empty list. Any other text stays as it is, and the schema rejects it.
 */
function fromText(schema: z.core.$ZodType, value: unknown): unknown {
  // zod's own union of all schema types, which `type` tells apart.
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
      return def.values.find((one) => String(one) === value || one === toBoolean(value)) ?? value;
    case 'boolean':
      return toBoolean(value) ?? value;
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

function toBoolean(value: unknown): boolean | undefined {
  if (value === 'true' || value === '1') return true;
  return value === 'false' || value === '0' ? false : undefined;
}

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
