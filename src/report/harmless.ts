/** Calls what must not break who calls it: telemetry, a timer. */
export function harmless<Value>(call: () => Value): Value | undefined {
  try {
    const given = call();
    if (given instanceof Promise) given.catch(() => {});
    return given;
  } catch {
    return undefined;
  }
}
