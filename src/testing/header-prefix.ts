import type { Fixture } from './fixture.js';

const SHIPPED = 'X-Service-';

/**
 * Returns the prefix of the provider's headers in a fixture. A recording has the brand of the provider, the shipped
 * fixtures have `X-Service-`, which is also the default.
 */
export function prefixOf({ event, headers }: Pick<Fixture, 'event' | 'headers'>): string {
  // A hostile fixture may lack the header of the event, and have one of something else that ends in -Event.
  if (headers.some(([name]) => /^X-Service-(event|webhook|signature)$/i.test(name))) return SHIPPED;
  const candidates = headers.flatMap(([name, value]) => {
    const prefix = /^(.+-)event$/i.exec(name)?.[1];
    return prefix === undefined ? [] : [{ prefix, value }];
  });
  // A forged header names another event than the fixture.
  const found = candidates.find(({ value }) => value === event) ?? candidates[0];
  return found?.prefix ?? SHIPPED;
}

/** Returns headers with another prefix. The rest of each name keeps its spelling. */
export function withPrefix(
  headers: Fixture['headers'],
  from: string,
  to: string,
): Fixture['headers'] {
  const before = from.toLowerCase();
  if (before === to.toLowerCase()) return headers;
  return headers.map(([name, value]) => [
    name.toLowerCase().startsWith(before) ? to + name.slice(from.length) : name,
    value,
  ]);
}
