import * as z from 'zod/mini';
import type { $ZodIssue } from 'zod/v4/core';
import type { Issue } from './issue.js';
import type { StandardResult, StandardSchema } from './standard-schema.js';
import { decimal, isJsonObject, isRounded } from './values.js';
import { toReader } from './whole-record.js';

/** The vendor name of this package's schemas. */
export const VENDOR = 'storefront-webhooks';

type Fields = Record<string, z.ZodMiniType>;

type Flat<T> = { [Key in keyof T]: T[Key] };

/**
 * A record with these fields. A type that is declared with `typeof` its fields keeps their comments in the shipped
 * declarations; a type that is inferred from a schema loses them.
 */
export type RecordOf<Required extends Fields, Rest extends Fields> = {
  [Name in keyof Required]: z.output<Required[Name]>;
} & { [Name in keyof Rest]?: z.output<Rest[Name]> | undefined };

/**
 * The result of reading: a value with the issues of its faulty fields, or only issues if the value is unusable.
 */
export type Reading<T> =
  | { readonly value: T; readonly issues: readonly Issue[] }
  | { readonly issues: readonly Issue[] };

/**
 * The schema of one of the provider's records: a tolerant Standard Schema. Only the required fields must fit. An
 * optional field of the wrong type becomes `undefined`, and {@link read} lists it as an issue. A missing or `null`
 * optional field is no issue (specification: Resources, Conventions). Unknown fields are kept.
 */
export interface ResourceSchema<T> extends StandardSchema<unknown, T> {
  /** Reads a value and lists the fields that did not fit. */
  read(value: unknown): Reading<T>;
  /** @internal */
  readonly [FIELDS]: RecordFields | undefined;
}

/** The key under which a schema keeps its fields, for the OpenAPI document of the service. */
export const FIELDS: unique symbol = Symbol();

export interface RecordFields {
  readonly required: Fields;
  readonly rest: Fields;
}

export function resource<Required extends Fields, Rest extends Fields>(
  required: Required,
  rest: Rest,
): ResourceSchema<Flat<RecordOf<Required, Rest>>> {
  const fields = { ...required, ...rest };
  const amounts = Object.keys(fields).filter((name) => fields[name] === decimal);
  // Compile the schema at the first record, because most programs read records of only one kind.
  let known: ReturnType<typeof toReader> | undefined;

  return resourceSchema({ required, rest }, (input) => {
    if (!isJsonObject(input)) return { issues: [{ path: '', message: 'expected object' }] };
    known ??= toReader({ ...required, ...mayBeMissing(rest) });
    const whole = known(input);
    const rounded = amounts.filter((name) => isRounded(input[name]));
    if (whole && rounded.length === 0 && !isPolluted()) {
      // Most records have no unknown keys, so there is nothing to copy.
      const isKnown = Object.keys(input).length === Object.keys(whole).length;
      return {
        value: (isKnown ? whole : { ...input, ...whole }) as Flat<RecordOf<Required, Rest>>,
        issues: [],
      };
    }

    const value: Record<string, unknown> = { ...input };
    const issues: Issue[] = [];
    const fatal: Issue[] = [];
    for (const [name, field] of Object.entries(fields)) {
      const isOff = rounded.includes(name);
      const isRequired = Object.hasOwn(required, name);
      if (!isRequired && !Object.hasOwn(input, name)) {
        // Hide values that come from a polluted prototype.
        if (name in value) value[name] = undefined;
        continue;
      }
      const result = field.safeParse(Object.hasOwn(input, name) ? input[name] : undefined);
      value[name] = result.success && !isOff ? result.data : undefined;
      if (!isRequired && input[name] === null) continue;
      const fault = result.success ? undefined : issueOf(name, result.error.issues[0]);
      const issue = isOff ? { path: name, message: ROUNDED } : fault;
      if (issue) (isRequired ? fatal : issues).push(issue);
    }
    return fatal.length > 0
      ? { issues: fatal }
      : { value: value as Flat<RecordOf<Required, Rest>>, issues };
  });
}

/** Returns whether a record with these issues is unusable, because it or a required field does not fit. */
export function isNone(schema: ResourceSchema<unknown>, issues: readonly Issue[]): boolean {
  const required = schema[FIELDS]?.required ?? {};
  return issues.some(({ path }) => path === '' || Object.hasOwn(required, path));
}

function mayBeMissing(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, z.optional(field)]),
  );
}

/** Returns a schema that reads each value with the schema that `choose` picks for it. */
export function variants<T>(choose: (value: unknown) => ResourceSchema<T>): ResourceSchema<T> {
  return resourceSchema(undefined, (input) => choose(input).read(input));
}

function resourceSchema<T>(
  fields: RecordFields | undefined,
  read: (value: unknown) => Reading<T>,
): ResourceSchema<T> {
  return {
    read,
    [FIELDS]: fields,
    '~standard': {
      version: 1,
      vendor: VENDOR,
      validate(value): StandardResult<T> {
        const reading = read(value);
        if ('value' in reading) return { value: reading.value };
        return {
          issues: reading.issues.map(({ path, message }) => ({
            path: path === '' ? [] : path.split('.'),
            message,
          })),
        };
      },
    },
  };
}

/** Returns whether `Object.prototype` is polluted, as by a library that merges untrusted keys. */
function isPolluted(): boolean {
  for (const _ in {}) return true;
  return false;
}

export const ROUNDED = 'is a number beyond 2^53, which has lost digits';

function issueOf(field: string, fault: $ZodIssue | undefined): Issue {
  const path = [field, ...(fault?.path ?? [])].join('.');
  return {
    path,
    message:
      fault?.code === 'invalid_type' ? `expected ${fault.expected}` : (fault?.message ?? 'invalid'),
  };
}
