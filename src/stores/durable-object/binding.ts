import { UsageError } from '../../errors.js';
import { hasMethods } from '../methods.js';
import { isProxy, reasonToRefuse } from '../refused.js';

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
  if (!isProxy(binding) && hasMethods(binding, ...methods)) return;
  throw new UsageError(
    'client_invalid',
    `${who} needs ${what}${reasonToRefuse(binding)}. In wrangler.jsonc it is made by ${config}`,
  );
}
