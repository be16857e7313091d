import { UsageError } from '../../errors/errors.js';
import { hasMethods, isProxy, reasonToRefuse } from '../platform.js';

/** The binding that a store or a ledger on Cloudflare expects. */
export interface Expected {
  /** The name of the function that needs the binding. */
  readonly who: string;
  readonly methods: readonly string[];
  readonly what: string;
  /** The line of the configuration that makes such a binding. */
  readonly config: string;
}

/** @throws {UsageError} `client_invalid`, with the line to change. */
export function checkBinding(binding: unknown, { who, methods, what, config }: Expected): void {
  if (!isProxy(binding) && hasMethods(binding, ...methods)) return;
  throw new UsageError(
    'client_invalid',
    `${who} needs ${what}${reasonToRefuse(binding)}. Configure it in wrangler.jsonc: ${config}`,
  );
}
