import { hasMethods } from './methods.js';
import { CLIENTS, STORES } from './platform.js';

/**
 * Why something that remembers keys and values is no store: it reads, and then it writes, and of two
 * receivers that do so at once both win.
 */
export function reasonToRefuse(store: unknown): string {
  if (isProxy(store))
    return '. This is a stub or a service binding, which seems to have every method';
  if (store instanceof Map) return '';
  const kind = KINDS.find(({ verbs }) => hasMethods(store, ...verbs));
  if (!kind) return '';
  return (
    `. ${kind.name} cannot do: it cannot compare and set, so of two receivers that get and then put, ` +
    `both would handle a delivery. ${kind.instead}`
  );
}

const DATABASE = `Use ${STORES.server}, over the same server if you like`;

const KINDS = [
  {
    name: 'Workers KV',
    verbs: ['get', 'put', 'list', 'getWithMetadata'],
    instead: `Use ${STORES.workers}`,
  },
  { name: 'unstorage', verbs: ['getItem', 'setItem', 'hasItem', 'getKeys'], instead: DATABASE },
  { name: 'keyv', verbs: ['get', 'set', 'delete', 'clear', 'has'], instead: DATABASE },
] as const;

/** What calls another Worker or object on Cloudflare seems to have every method. */
export function isProxy(store: unknown): boolean {
  return hasMethods(store, 'a method that nothing has');
}

/** What was given in place of a store, where it is something that one is made of. */
export function whatStoreIs(store: unknown): string {
  const [, made] = CLIENTS.find(([verb]) => hasMethods(store, verb)) ?? [];
  if (made && !isProxy(store)) return `. This is a client, of which a store is made: ${made}`;
  if (typeof store === 'function') return ', and not a function: call it';
  return store instanceof Map ? ', and not a Map' : '';
}
