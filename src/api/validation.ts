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
      return `has to be one of ${issue.values.map(String).join(', ')}`;
    case 'custom':
    case 'invalid_format':
      return issue.message;
    default:
      return 'is not as expected';
  }
}
