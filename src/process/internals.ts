import type { Delivery } from '../request/delivery.js';
import type { Result } from '../request/outcome.js';
import type { Processing } from './process-delivery.js';
import type { Settings } from './read-options.js';

/** The parts of a receiver that recovery uses. Programs without recovery do not load its code. */
export interface Internals {
  readonly settings: Settings;
  readonly processing: Processing;
  /** Runs steps 4 to 6, and reports them as for a webhook. */
  process(delivery: Delivery): Promise<Result>;
}

/**
 * The property through which recovery reaches the internals. It accepts deliveries that are not signed, so no
 * other code should use it. The symbol is in the global registry, because an application may load this package
 * twice.
 */
export const INTERNALS: unique symbol = Symbol.for('storefront-webhooks.inside') as never;
