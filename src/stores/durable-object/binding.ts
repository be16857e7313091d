import { UsageError } from '../../errors.js';
import { reasonToRefuse } from '../refused.js';

/** What a store or a ledger of Cloudflare has to be given. */
export interface Expected {
  /** Who needs it. */
  readonly who: string;
  readonly methods: readonly string[];
  readonly what: string;
  /** The line of the configuration that makes such a binding. */
  readonly config: string;
}

/** @throws {UsageError} `client_invalid`, with the line to change. */
export function checkBinding(binding: unknown, { who, methods, what, config }: Expected): void {
  if (!isProxy(binding) && methods.every((method) => has(binding, method))) return;
  const reason = isProxy(binding)
    ? '. This is a stub or a service binding'
    : reasonToRefuse(binding);
  throw new UsageError(
    'client_invalid',
    `${who} needs ${what}${reason}. In wrangler.jsonc it is made by ${config}`,
  );
}

/** What calls another Worker or object seems to have every method. */
function isProxy(binding: unknown): boolean {
  return has(binding, 'a method that nothing has');
}

function has(binding: unknown, method: string): boolean {
  const isObject = typeof binding === 'object' && binding !== null;
  return isObject && typeof Reflect.get(binding, method) === 'function';
}
