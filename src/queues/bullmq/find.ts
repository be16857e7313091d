/** Returns a property of an object whose type does not declare it; `undefined` of anything else. */
export function find(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
