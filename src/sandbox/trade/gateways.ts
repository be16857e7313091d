import type { GATEWAYS } from '../../schemas/product.js';

/** A payment gateway by its name in the API. */
export type Gateway = (typeof GATEWAYS)[number];
