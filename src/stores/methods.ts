/**
 * Whether something has these methods, by which the clients of drivers are known. Not as its own keys: a
 * client may be behind a Proxy.
 */
export function hasMethods<Value, Name extends string>(
  value: Value,
  ...names: Name[]
): value is Value & (unknown extends Value ? unknown : Extract<Value, Record<Name, unknown>>) {
  const isHolder = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return isHolder && names.every((name) => typeof Reflect.get(value, name) === 'function');
}
