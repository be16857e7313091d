import { createClient } from '../../dist/api.js';
import { createSandbox } from '../../dist/sandbox.js';

export const KEY = 'sk_test_bench';

/** Returns a sandbox in which a seller has created a product. */
export async function makeProduct(options) {
  const sandbox = createSandbox(options);
  const client = createClient({
    baseUrl: 'http://localhost',
    auth: { accessToken: KEY },
    fetch: sandbox.fetch,
  });
  const product = await client.products.create({
    title: 'Pocket tuner',
    description: 'Tunes **guitars**.',
    product_type: 'service',
    price: '9.90',
    currency: 'EUR',
    gateways: ['paypal'],
  });
  return { sandbox, client, account: sandbox.account(KEY), product };
}
