import { assumed, by, type Chapter, field, unknown } from '../rule.js';

/** The rules of orders, payments and the blacklist. */
export const trade: Chapter = {
  Order: [
    ['`id`: string, unique identifier', field('id')],
    ['`product_id`: string, product of the order', field('product_id')],
    ['`product_title`: string', field('product_title')],
    ['`email`: string, customer email address', field('email')],
    ['`ip_address`: string, customer IP address', field('ip_address')],
    ['`country_code`: string, ISO 3166-1 alpha-2', field('country_code')],
    ['`user_agent`: string', field('user_agent')],
    ['`value`: order value in `currency`', field('value')],
    ['`usd_value`: order value in USD', field('usd_value')],
    ['`exchange_rate`: string (decimal)', field('exchange_rate')],
    ['`currency`: string, ISO 4217', field('currency')],
    ['`gateway`: string, gateway used, as a display name', field('gateway')],
    ['`quantity`: integer, default 1', by('quantity: integer', 'quantity: default 1')],
    ['`risk_level`: integer', field('risk_level')],
    ['`status`: integer, see States and transitions', field('status')],
    [
      '`delivered`: string or null, delivered goods; default null',
      by('delivered: ', 'delivered goods'),
    ],
    [
      '`referral`: string or null, HTTP referrer of the product page; default null',
      by('referral: ', 'quantity: default 1; referral: default null'),
    ],
    [
      '`crypto_address`: string or null, crypto address presented to the customer',
      by('crypto_address: ', 'crypto_address and crypto_value are null'),
    ],
    [
      '`crypto_value`: integer or null, satoshis the customer must send',
      by('crypto_value: ', 'crypto_address and crypto_value are null'),
    ],
    [
      '`crypto_received`: integer, satoshis received',
      by('crypto_received: ', '[spec: Order status] 53 '),
    ],
    ['`crypto_confirmations`: integer', field('crypto_confirmations')],
    ['`crypto_channel`: string or null', field('crypto_channel')],
    ['The content of `crypto_channel`.', unknown('in the sandbox, it is null')],
    ['`coupon_id`: string or null', field('coupon_id')],
    ['The effect of a coupon.', unknown('the sandbox has no coupons')],
    ['`custom`: object', field('custom')],
    ['`created_at`: timestamp', field('created_at')],
    ['`updated_at`: timestamp, equals created_at if never updated', field('updated_at')],
  ],
  'Blacklist entry': [
    ['`id`: string', field('id')],
    [
      '`blacklist_type`: integer, 1 = email, 2 = IP address, 3 = country code',
      by(
        'blacklist_type: ',
        'blacklist_type is 1, 2 or 3',
        'blacklist_type 1',
        'blacklist_type 2',
        'blacklist_type 3',
      ),
    ],
    [
      '`blocked_data`: string, the blocked country code, email or IP address',
      field('blocked_data'),
    ],
    ['`note`: string or null, internal reason', by('note: internal', 'note: string or null')],
    ['`created_at`: timestamp', field('created_at')],
    ['`updated_at`: timestamp, equals created_at if never updated', field('updated_at')],
  ],
  'Payment result': [
    [
      'Integrated flow: an object with a single field `url` (string, the hosted checkout address).',
      by('an object with a single field url'),
    ],
    [
      'White-label flow: an order-shaped object with fields id, status (integer), crypto_address, crypto_value, confirmations_needed (integer), product_id, email, value, quantity, currency, gateway, crypto_channel, usd_value, exchange_rate, created_at, updated_at and url (string, a payment address for the chosen gateway).',
      by(
        'white-label flow: an order-shaped object with the field ',
        'white-label flow: no other fields',
      ),
    ],
    [
      'In this flow product_id is a fixed marker for payments rather than a product.',
      by('in this flow product_id is a fixed marker'),
    ],
    ['Feedback and query records: not shown.', assumed('customerRecords')],
  ],
  'Order status': [
    ['`0`: Not paid', by('0 ')],
    ['`51`: Chargeback/Reversed', by('51 ')],
    ['`52`: High risk', by('52 ')],
    ['`53`: Partially paid', by('53 ')],
    ['`54`: Awaiting cryptocurrency confirmations', by('54 ')],
    ['`55`: Pending (wallet payment gateway)', by('55 ')],
    ['`56`: Refunded', by('56 ')],
    ['`100`: Successful and completed', by('100 ')],
    ['Transitions: not shown.', assumed('transitions')],
  ],
  Orders: [
    ['`GET /api/v2/orders`: query page; array of Order', by('GET /api/v2/orders returns')],
    ['`GET /api/v2/orders/:id`: Order', by('GET /api/v2/orders/:id returns')],
    ['No other order operations are listed.', by('no other order operations')],
  ],
  Blacklist: [
    [
      '`GET /api/v2/blacklist`: query page; array of Blacklist entry',
      by('GET /api/v2/blacklist returns'),
    ],
    ['`GET /api/v2/blacklist/:id`: Blacklist entry', by('GET /api/v2/blacklist/:id returns')],
    [
      '`POST /api/v2/blacklist`: blacklist_type (integer, required), blocked_data (string, required), note (string, optional); Blacklist entry, 201',
      by(
        'POST /api/v2/blacklist of the type',
        'blacklist_type (integer) and blocked_data are required',
      ),
    ],
    [
      '`PUT /api/v2/blacklist/:id`: blacklist_type, blocked_data, note (all optional); Blacklist entry, 200',
      by('PUT /api/v2/blacklist/:id takes'),
    ],
    ['`DELETE /api/v2/blacklist/:id`: 204', by('DELETE /api/v2/blacklist/:id returns 204')],
  ],
  Payments: [
    [
      '`POST /api/v2/pay`: 201, Payment result',
      by('[spec: Payment result] an object with', '[spec: Payment result] white-label flow'),
    ],
    [
      '`DELETE /api/v2/pay/:id`: 204',
      by(
        'DELETE /api/v2/pay/:id returns 204',
        'the hosted checkout > a payment that the seller deleted',
      ),
    ],
    ['`title`: string, required', by('title is required')],
    [
      '`title`: product title shown on the checkout page',
      by('[spec: Events] the creation of a payment produces an order'),
    ],
    ['`email`: string, required, customer email', by('email is required')],
    ['`currency`: string, required, ISO 4217', by('currency is required')],
    ['`value`: float, required, price in that currency', by('value is required')],
    ['`gateway`: string, required, payment gateway name', by('gateway is required')],
    [
      '`confirmations (name)`: integer, optional, crypto confirmations needed, 0 to 6, default 1',
      by('crypto confirmations needed', '[spec: Limits] payment confirmations'),
    ],
    [
      '`confirmations (name)`: Parameter name: not shown',
      assumed('confirmationsName', 'the name of the parameter is not shown'),
    ],
    [
      '`white_label`: boolean, optional, when true the order object is returned instead of a URL',
      by(
        '[spec: Payment result] white-label flow',
        'return_url is required only',
        'the hosted checkout > opens at the url',
      ),
    ],
    [
      '`ip_address`: string, optional, customer IP, used when white_label is true',
      field('ip_address'),
    ],
    [
      '`return_url`: string, required only when white_label is false',
      by('return_url is required only'),
    ],
    [
      '`return_url`: where the customer is redirected after payment',
      by(
        'return_url: where the customer',
        'the hosted checkout > after the payment',
        'the hosted checkout > does not redirect',
      ),
    ],
    ['`webhook_url`: string, optional, receives order status webhooks', by('webhook_url receives')],
    [
      'The gateway chosen must have its account information (for example a payout address) configured in the shop payment settings.',
      by('the gateway must have its account information'),
    ],
    [
      'Webhook endpoints receive all order events for payments whether or not webhook_url is given.',
      by('the webhook_url of a payment, and the endpoints'),
    ],
    [
      'The white-label flow has no real-time status updates; the client follows status through webhooks.',
      by('the webhook_url of a payment, and the endpoints'),
    ],
    [
      'The order of a deleted payment.',
      unknown('in the sandbox, the order stays, and cannot be paid'),
    ],
  ],
};
