import type { Result } from '../outcome.js';
import type { Delivery } from '../request/delivery.js';
import type { Settings } from '../settings.js';
import type { Processing } from './processing.js';

/** What recovery is given of a receiver, so that who does not recover does not load it. */
export interface Inside {
  readonly settings: Settings;
  readonly processing: Processing;
  /** Steps 4 to 6, told like those of a webhook. */
  process(delivery: Delivery): Promise<Result>;
}

/**
 * By what recovery gets at a receiver: it takes what is not signed, so it is nobody else's to call. In the
 * global registry, because an application may hold this package twice.
 */
export const INSIDE: unique symbol = Symbol.for('storefront-webhooks.inside') as never;
