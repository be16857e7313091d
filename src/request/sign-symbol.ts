/**
 * The method of a receiver that signs as its provider would, so that tests need no second copy of the
 * secret. In the global registry, because each entry point of the package may hold its own copy of this file.
 */
export const SIGN: unique symbol = Symbol.for('storefront-webhooks.sign') as never;
