const key = 'a'.repeat(64);
const handler = 'order:paid';

/** Effects that every ledger has to reject, because they would be the same for every order. */
export const NO_EFFECTS: readonly (readonly [what: string, effect: unknown])[] = [
  ['an empty key', { key: '', handler }],
  ['the id of an order', { key: 'ord_1', handler }],
  ['64 letters that are no digits', { key: 'zz'.repeat(32), handler }],
  ['a key that is too long', { key: `${key}a`, handler }],
  ['a key that is no text', { key: [key], handler }],
  ['no key', { handler }],
  ['an empty handler', { key, handler: '' }],
  ['no handler', { key }],
  ['a handler that is no text', { key, handler: 1 }],
  ['nothing', null],
];
