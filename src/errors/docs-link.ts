/** A page of docs/ and an anchor in it that explain a message. A test checks that each exists. */
export type Page =
  | `errors.md#${string}`
  // Why a signature does not match.
  | `debug.md#${'lost-body' | 'missing-header' | 'no-shop' | 'none-fits' | 'not-hex' | 'wrong-prefix'}`
  // The meaning of each line on stderr.
  | `operate.md#${Line}`;

type Line =
  | 'body-kept'
  | 'error'
  | 'handler-failed'
  | 'hook-failed'
  | 'memory-store'
  | 'message-failed'
  | 'no-error-listener'
  | 'no-time-limit'
  | 'not-parked'
  | 'parked'
  | 'pg-boss-10'
  | 'postgres-forgets'
  | 'queue-unknown'
  | 'receiver-failed'
  | 'reconcile-failed'
  | 'reconciled'
  | 'redis-evicts'
  | 'redis-forgets'
  | 'redis-unreadable'
  | 'sandbox'
  | 'sqlite-no-wal'
  | 'store-silent'
  | 'unhandled';

/** Appends the page that explains a message. It names a file, not a URL, because the docs are in the package. */
export function withDocsLink(text: string, page: Page): string {
  return `${toSentence(text)} See node_modules/storefront-webhooks/docs/${page}`;
}

/** Ends a text with a full stop, unless it ends a sentence already. */
export function toSentence(text: string): string {
  return text.replace(/[^.!?…]$/, '$&.');
}

/** Removes what {@link withDocsLink} appended. */
export function unexplained(text: string): string {
  return text.replace(/ See node_modules\/storefront-webhooks\/docs\/\S+$/, '');
}
