import type { SecretFunction } from 'storefront-webhooks';
import { SECRET } from '../support/deliver.js';

/** For a worker of all shops: each test has deliveries of a scope of its own, named in a header. */
export const ofAnyShop: SecretFunction = ({ headers }) => {
  const scope: unknown = Reflect.get(headers, 'x-shop');
  return { secret: SECRET, scope: typeof scope === 'string' ? scope : '' };
};
