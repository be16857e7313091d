import { writeLine } from '../report/log.js';

/** How a client is to be made, so that no call of it waits for ever. */
export interface Limits {
  /** The line to change. */
  readonly line: string;
  /** Which of its options are missing; `undefined` where the client does not say. */
  readonly missing: readonly string[] | undefined;
}

/** As many as there are kinds of clients and of what they can lack. */
const told = new Set<string>();

/** Says once per process what a client of this kind lacks. */
export function warnOfLimits(what: string, limits: Limits | undefined): void {
  if (!limits?.missing?.length) return;
  const text =
    `${what} may fall silent on a connection that stays open, and this client would wait for ever: it has ` +
    `no ${limits.missing.join(', no ')}. Make it so: ${limits.line}`;
  if (told.has(text)) return;
  told.add(text);
  writeLine(text, 'operate.md#no-time-limit', 'warn');
}

/** What a store says of a client that has fallen silent. */
export function adviceOf(limits: Limits | undefined): string | undefined {
  if (limits?.missing?.length === 0) {
    return 'Its client ends such a connection by itself: look at the server, and at what is on the way to it.';
  }
  return limits && `So that the client ends it by itself, make it so: ${limits.line}`;
}

/** The value of an option, where there is such a thing. */
export function optionOf(holder: unknown, ...path: string[]): unknown {
  let value = holder;
  for (const name of path) {
    const isHolder = (typeof value === 'object' && value !== null) || typeof value === 'function';
    if (!isHolder) return undefined;
    value = Reflect.get(Object(value), name);
  }
  return value;
}
