import * as z from 'zod/mini';
import { type $ZodIssue, $ZodObjectJIT } from 'zod/v4/core';
import { decimal } from './decimal.js';
import type { Issue } from './issue.js';
import { isJsonObject } from './json.js';
import type { StandardResult, StandardSchema } from './standard-schema.js';

/** Tells the schemas of this package from others. */
export const VENDOR = 'storefront-webhooks';

type Fields = Record<string, z.ZodMiniType>;

type Flat<T> = { [Key in keyof T]: T[Key] };

type Output<Required extends Fields, Rest extends Fields> = Flat<
  { [Name in keyof Required]: z.output<Required[Name]> } & {
    [Name in keyof Rest]?: z.output<Rest[Name]> | undefined;
  }
>;

/** What reading a value gave: a value with what was odd about it, or nothing usable. */
export type Reading<T> =
  | { readonly value: T; readonly issues: readonly Issue[] }
  | { readonly issues: readonly Issue[] };

/**
 * The schema of a record of the provider's. It is a Standard Schema, and a generous one: only
 * the required fields must fit. Any other field of another type is `undefined` and listed by {@link read};
 * one that is missing, or `null` where it has a value or none, is no issue (specification: Resources,
 * Conventions). Fields that the specification does not name are kept.
 */
export interface ResourceSchema<T> extends StandardSchema<unknown, T> {
  /** Reads a value and says which of its fields did not fit. */
  read(value: unknown): Reading<T>;
  /** @internal */
  readonly [FIELDS]: RecordFields | undefined;
}

/** Under which a schema keeps its fields, from which the service is documented. */
export const FIELDS: unique symbol = Symbol();

/** The fields that a record cannot do without, and the others. */
export interface RecordFields {
  readonly required: Fields;
  readonly rest: Fields;
}

export function resource<Required extends Fields, Rest extends Fields>(
  required: Required,
  rest: Rest,
): ResourceSchema<Output<Required, Rest>> {
  const fields = { ...required, ...rest };
  const amounts = Object.keys(fields).filter((name) => fields[name] === decimal);
  // zod's compiled object, and the same where code cannot be compiled: with z.object, receive() takes 9 % longer.
  const known = new $ZodObjectJIT({
    type: 'object',
    shape: { ...required, ...mayBeMissing(rest) },
  });

  return resourceSchema({ required, rest }, (input) => {
    if (!isJsonObject(input)) return { issues: [{ path: '', message: 'expected object' }] };
    const whole = z.safeParse(known, input);
    const rounded = amounts.filter((name) => isRounded(input[name]));
    if (whole.success && rounded.length === 0) {
      // Most often there is no unknown key to be kept, and so nothing to be copied.
      const isKnown = Object.keys(input).length === Object.keys(whole.data).length;
      return {
        value: (isKnown ? whole.data : { ...input, ...whole.data }) as Output<Required, Rest>,
        issues: [],
      };
    }

    const value: Record<string, unknown> = { ...input };
    const issues: Issue[] = [];
    const fatal: Issue[] = [];
    for (const [name, field] of Object.entries(fields)) {
      const isOff = rounded.includes(name);
      const isRequired = Object.hasOwn(required, name);
      if (!isRequired && !Object.hasOwn(input, name)) continue;
      const result = field.safeParse(Object.hasOwn(input, name) ? input[name] : undefined);
      value[name] = result.success && !isOff ? result.data : undefined;
      if (!isRequired && input[name] === null) continue;
      const fault = result.success ? undefined : issueOf(name, result.error.issues[0]);
      const issue = isOff ? { path: name, message: ROUNDED } : fault;
      if (issue) (isRequired ? fatal : issues).push(issue);
    }
    return fatal.length > 0
      ? { issues: fatal }
      : { value: value as Output<Required, Rest>, issues };
  });
}

/** Whether a record with these issues is none: it cannot do without what does not fit. */
export function isNone(schema: ResourceSchema<unknown>, issues: readonly Issue[]): boolean {
  const required = schema[FIELDS]?.required ?? {};
  return issues.some(({ path }) => path === '' || Object.hasOwn(required, path));
}

function mayBeMissing(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, z.optional(field)]),
  );
}

/** A schema that reads each value by the schema that `choose` picks for it. */
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

const ROUNDED = 'is a number beyond 2^53, which has lost digits';

/** Whether an amount is a number that JSON has rounded before it came here. */
function isRounded(amount: unknown): boolean {
  return typeof amount === 'number' && Math.abs(amount) > Number.MAX_SAFE_INTEGER;
}

function issueOf(field: string, fault: $ZodIssue | undefined): Issue {
  const path = [field, ...(fault?.path ?? [])].join('.');
  return {
    path,
    message:
      fault?.code === 'invalid_type' ? `expected ${fault.expected}` : (fault?.message ?? 'invalid'),
  };
}
