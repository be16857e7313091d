/**
 * Reads the fields of a form or a query as text. `name[index]` fields form lists (specification: Rules for all
 * endpoints).
 */
export function readFields(text: string): object {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    // An empty list is an empty `name[]`.
    if (name.endsWith('[]') && value === '') fields[name.slice(0, -2)] = [];
    else set(fields, name.match(/[^[\]]+/g) ?? [], value);
  }
  return fields;
}

function set(into: object, [key = '', ...rest]: readonly string[], value: string): void {
  const fields: Record<string, unknown> = Object(into);
  const [next] = rest;
  if (next === undefined) {
    fields[key] = value;
    return;
  }
  fields[key] ??= /^\d+$/.test(next) ? [] : {};
  set(Object(fields[key]), rest, value);
}
