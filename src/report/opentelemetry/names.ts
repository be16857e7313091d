/** The names of this package's own attributes and metrics, for which the conventions have none. */
export const SYSTEM_VALUE = 'storefront_webhooks';

export const OUTCOME = 'storefront_webhooks.outcome';
export const REJECTION_CODE = 'storefront_webhooks.rejection.code';
export const EVENT = 'storefront_webhooks.event';
export const SCOPE = 'storefront_webhooks.scope';
export const SOURCE = 'storefront_webhooks.source';
export const ATTEMPT = 'storefront_webhooks.attempt';
export const HANDLER = 'storefront_webhooks.handler';
export const CONFIRMATION = 'storefront_webhooks.confirmation';
export const STATE = 'storefront_webhooks.state';

export const DELIVERIES = 'storefront_webhooks.deliveries';
export const CONFIRMATIONS = 'storefront_webhooks.confirmations';
export const HANDLER_DURATION = 'storefront_webhooks.handler.duration';
export const STORE_DELIVERIES = 'storefront_webhooks.store.deliveries';
