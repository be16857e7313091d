/**
 * Why something that remembers keys and values is no store: it reads, and then it writes, and of two
 * receivers that do so at once both win.
 */
export function reasonToRefuse(store: unknown): string {
  const kind = KINDS.find(({ verbs }) => verbs.every((verb) => has(store, verb)));
  if (!kind) return '';
  return (
    `. ${kind.name} cannot do: it cannot compare and set, so of two receivers that get and then put, ` +
    `both would handle a delivery. ${kind.instead}`
  );
}

const DATABASE =
  'Use sqliteStore(…), postgresStore(…) or redisStore(…), over the same server if you like';

const KINDS = [
  {
    name: 'Workers KV',
    verbs: ['get', 'put', 'list', 'getWithMetadata'],
    instead: 'Use durableObjectStore(…) or d1Store(…)',
  },
  { name: 'unstorage', verbs: ['getItem', 'setItem', 'hasItem', 'getKeys'], instead: DATABASE },
  { name: 'keyv', verbs: ['get', 'set', 'delete', 'clear', 'has'], instead: DATABASE },
] as const;

/** Whatever a proxy answers, as a service binding of Workers, which seems to have every method. */
function has(store: unknown, verb: string): boolean {
  return (
    typeof store === 'object' &&
    store !== null &&
    typeof (store as Record<string, unknown>)[verb] === 'function'
  );
}
