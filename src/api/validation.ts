import * as z from 'zod/mini';
import type { $ZodIssue } from 'zod/v4/core';

/**
 * Returns what is wrong with parameters: a text for each check that failed, as the provider lists them in
 * `errors` (specification: Errors). The texts hold names and no values.
 */
export function findFaults(schema: z.ZodMiniType, parameters: unknown): string[] {
  const { error } = z.safeParse(schema, parameters);
  return (error?.issues ?? []).map((issue) => {
    const name = issue.path.map((part, at) => (at === 0 ? String(part) : `[${String(part)}]`));
    const fault = isMissing(parameters, issue.path) ? 'is required' : describe(issue);
    return `${name.join('')} ${fault}`.trimStart();
  });
}

function isMissing(parameters: unknown, path: readonly PropertyKey[]): boolean {
  let value = parameters;
  for (const part of path) value = Object(value)[part];
  return value === undefined;
}

const TYPES: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  string: 'text',
};

const UNKNOWN_FAULT = 'is not as expected';

function describe(issue: $ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `has to be ${TYPES[issue.expected] ?? `of type ${issue.expected}`}`;
    case 'too_small':
      if (issue.origin === 'string') return 'must not be empty';
      return `has to be at least ${issue.minimum}`;
    case 'too_big':
      return `has to be at most ${issue.maximum}`;
    case 'invalid_value':
      return oneOf(issue.values);
    case 'invalid_union':
      // zod names the values of the field that tells the schemas of a union apart.
      return 'options' in issue && issue.options ? oneOf(issue.options) : UNKNOWN_FAULT;
    case 'custom':
    case 'invalid_format':
      return issue.message;
    default:
      return UNKNOWN_FAULT;
  }
}

/** Describes the values of a field. `undefined` is not one of them: it means that the field may be missing. */
function oneOf(values: readonly unknown[]): string {
  const known = values.filter((value) => value !== undefined);
  const isFlag = known.length === 2 && known.includes(true) && known.includes(false);
  return `has to be ${isFlag ? TYPES.boolean : `one of ${known.map(String).join(', ')}`}`;
}
