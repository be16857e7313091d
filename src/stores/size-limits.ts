import { warnOnce } from './warn-once.js';

/** The time limits of a client, so that none of its calls waits forever. */
export interface Limits {
  /** A line of code that makes the client with all limits. */
  readonly line: string;
  /** The options that are missing; `undefined` if the client does not show its options. */
  readonly missing: readonly string[] | undefined;
}

/** Warns once per process of the limits that a kind of client lacks. */
export function warnOfLimits(what: string, limits: Limits | undefined): void {
  if (!limits?.missing?.length) return;
  warnOnce(
    `${what} may fall silent on a connection that stays open, and this client would wait forever: it has ` +
      `no ${limits.missing.join(', no ')}. Create it like this: ${limits.line}`,
    'operate.md#no-time-limit',
  );
}

/** Returns advice for the operator when the connection of a store has fallen silent. */
export function adviceOf(limits: Limits | undefined): string | undefined {
  if (limits?.missing?.length === 0) {
    return 'Its client ends a dead connection by itself: check the server, and the network on the way to it.';
  }
  return (
    limits &&
    `To have the client end a dead connection by itself, create it like this: ${limits.line}`
  );
}

/** Returns the value at a path of properties; `undefined` if the path leads nowhere. */
export function optionOf(holder: unknown, ...path: string[]): unknown {
  let value = holder;
  for (const name of path) {
    const isHolder = (typeof value === 'object' && value !== null) || typeof value === 'function';
    if (!isHolder) return undefined;
    value = Reflect.get(Object(value), name);
  }
  return value;
}
