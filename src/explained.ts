/** Where docs/ explains a message: a page and an anchor in it. A test finds each. */
export type Page =
  | `errors.md#${string}`
  // Why a signature does not hold.
  | `debug.md#${'missing-header' | 'no-shop' | 'none-fits' | 'not-hex' | 'wrong-prefix'}`
  // What each line on stderr means.
  | `operate.md#${Line}`;

type Line =
  | 'body-kept'
  | 'error'
  | 'handler-failed'
  | 'hook-failed'
  | 'memory-store'
  | 'message-failed'
  | 'no-time-limit'
  | 'not-parked'
  | 'parked'
  | 'pg-boss-10'
  | 'queue-unknown'
  | 'receiver-failed'
  | 'reconcile-failed'
  | 'reconciled'
  | 'redis-evicts'
  | 'redis-forgets'
  | 'redis-unreadable'
  | 'sandbox'
  | 'store-silent'
  | 'unhandled';

/** A message with its end, which says where it is explained. The docs are in the package: there is no address. */
export function explained(text: string, page: Page): string {
  return `${text.replace(/[^.!?…]$/, '$&.')} See docs/${page}`;
}

/** A message without that end. */
export function unexplained(text: string): string {
  return text.replace(/ See docs\/\S+$/, '');
}
