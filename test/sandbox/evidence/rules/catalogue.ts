import { assumed, by, type Chapter, eachVariant, field, unknown } from '../rule.js';

const older = (name: string) => by(`older variant, ${name}: `);

/** The rules of products and categories. */
export const catalogue: Chapter = {
  Product: [
    ['`id`: string, unique identifier', eachVariant('id')],
    ['`title`: string, display title', eachVariant('title')],
    ['`description`: string, raw markdown', eachVariant('description')],
    ['`stock`: integer or string, current stock count', eachVariant('stock')],
    [
      '`stock`: the string `∞` when the product is of the file type (unless stock_amount is set), the dynamic type or the service type',
      by('stock returns the string ∞', 'stock of the file type is the number'),
    ],
    ['`price`: price for 1 quantity, in `currency`', eachVariant('price')],
    ['`currency`: ISO 4217 code used at checkout', eachVariant('currency')],
    ['`product_type`: enum (newer) or integer (older)', eachVariant('product_type')],
    [
      '`gateways`: array of string, enabled payment gateways (snake case names)',
      eachVariant('gateways'),
    ],
    ['`image`: file object or null', eachVariant('image')],
    ['`info`: string or null, the goods for the stock', eachVariant('info')],
    ['`info`: of the serials type, split by stock_delimiter', by('for the serials type info')],
    ['`file`: file object or null', eachVariant('file')],
    [
      '`file`: used when the type is file',
      unknown('how a seller uploads a file, and how a customer gets it'),
    ],
    [
      '`stock_delimiter`: string, splits stock out of info. Default `,`',
      eachVariant('stock_delimiter', 'for the serials type info is split'),
    ],
    [
      '`maximum_quantity`: integer or null, max order quantity. Default null = as high as stock',
      eachVariant('maximum_quantity', 'maximum_quantity null = as high as stock'),
    ],
    ['`minimum_quantity`: integer, min order quantity. Default 1', eachVariant('minimum_quantity')],
    [
      '`stock_amount`: integer or null, stock limit for the file type. null = unlimited',
      eachVariant('stock_amount'),
    ],
    [
      '`dynamic_url`: string or null, URL called to generate goods for the dynamic type',
      eachVariant('dynamic_url'),
    ],
    ['`custom`: array (newer), custom checkout input fields', field('custom')],
    ['`customer_details_required`: boolean (newer variant)', field('customer_details_required')],
    [
      '`customer_details_required`: require customer name and address at checkout',
      field('customer_details_required'),
    ],
    ['`warranty`: string or null (newer variant)', by('warranty: ', 'warranty, quantities')],
    [
      '`warranty`: text sent to the customer',
      unknown('the sandbox does not send it: the shop shows it'),
    ],
    [
      '`warranty_duration`: integer or null, warranty duration in seconds (newer variant)',
      field('warranty_duration'),
    ],
    ['`redirect_url`: string or null (newer variant)', field('redirect_url')],
    ['`redirect_url`: redirect after successful checkout', field('redirect_url')],
    [
      '`unlisted`: boolean, not listed on the storefront, still reachable by direct link',
      eachVariant('unlisted', 'unlisted and private > an unlisted'),
    ],
    [
      '`private`: boolean, newer variant: neither listed nor accessible. Older variant: not shown in any listing',
      eachVariant(
        'private',
        'private, newer variant: ',
        'private, older variant: ',
        'unlisted and private > a private',
      ),
    ],
    ['`hide_stock`: boolean or null (newer variant)', field('hide_stock')],
    [
      '`hide_stock`: when true the exact stock is hidden and replaced by in stock or out of stock',
      field('hide_stock'),
    ],
    [
      '`vpn_block`: boolean, whether VPNs and proxies are blocked at checkout',
      eachVariant('vpn_block', 'vpn_block'),
    ],
    ['`seller_note`: string or null, returned in responses', eachVariant('seller_note')],
    ['`theme`: string (newer) or integer (older), returned in responses', eachVariant('theme')],
    [
      '`max_risk_level`: integer, highest customer risk level before an order is blocked. Default 30',
      eachVariant('max_risk_level', 'max_risk_level'),
    ],
    [
      '`crypto_confirmations`: older variant: confirmations required to consider a crypto transaction complete. Default 1',
      eachVariant('crypto_confirmations'),
    ],
    [
      '`paypal_email_delivery`: boolean, older variant, returned in responses',
      older('paypal_email_delivery'),
    ],
    [
      "`webhook_url`: string or null, older variant: URL called for every order status update of this product's orders",
      eachVariant('webhook_url', 'the webhook_url of a product'),
    ],
    ['`created_at`: timestamp', eachVariant('created_at')],
    ['`updated_at`: timestamp', eachVariant('updated_at')],
    [
      'A product of one variant has no field that only the other variant has.',
      by('neither variant has the fields'),
    ],
    [
      '`newer`: product_type is `file`, `serials`, `dynamic` or `service`',
      by('product_type of the newer variant may be ', 'there are no other types'),
    ],
    [
      '`older`: product_type is 1 = file, 2 = serials (info split by stock_delimiter), 3 = dynamic; stock is `∞` for 1 (unless stock_amount set), 3 and 4 (4 is the remaining type, service)',
      by('older product_type ', 'older variant: stock of the file type'),
    ],
    [
      'gateways allowed values (newer variant list): `paypal`, `stripe`, `cashapp`, `bitcoin`, `ethereum`, `litecoin`, `bitcoin_cash`, `perfect_money`, `skrill`, `dogecoin`, `bnb`, `polygon`.',
      by('gateways may have ', 'there are no other types, gateways'),
    ],
    [
      '`type`: of a custom checkout field (newer variant): `select`, `number`, `text`, `hidden`, `textarea`, `checkbox`, `country_dropdown`',
      by(
        'a checkout field > each type',
        'a checkout field > a field named',
        'a checkout field > an invalid value',
        'a custom checkout field may be of the type ',
        'there are no other types, gateways and custom',
      ),
    ],
    ['`name`: of a custom checkout field: string', by('a custom checkout field needs name')],
    [
      '`required`: of a custom checkout field: boolean',
      by('a custom checkout field needs required', 'a checkout field > the server requires'),
    ],
    [
      'Older variant: `custom` is returned as an empty object or null.',
      by('older variant: custom is returned'),
    ],
    ['Shape of custom elements in the older variant: not shown.', assumed('olderCustom')],
  ],
  'File object': [
    ['`id`: string, identifier of the stored file', field('id')],
    ['`storage`: string, storage label, returned in responses', field('storage')],
    ['`url`: string, URL of the hosted file', field('url')],
    ['`metadata.size`: integer, bytes', field('metadata.size')],
    ['`metadata.filename`: string, including extension', field('metadata.filename')],
    ['`metadata.mime_type`: string, MIME type', field('metadata.mime_type')],
    [
      'How a file is stored and becomes an image or the file of a product.',
      unknown('no operation accepts a file, so no record of the sandbox has one'),
    ],
  ],
  Category: [
    ['`id`: string', field('id')],
    ['`title`: string, display title', field('title')],
    ['`product_ids`: array of string, ids of products in the category', field('product_ids')],
    ['`unlisted`: boolean', field('unlisted')],
    [
      '`unlisted`: when true the category is found only by direct URL',
      by('an unlisted category is found'),
    ],
    ['`image`: file object or null, null when none', field('image')],
    ['`created_at`: timestamp', field('created_at')],
    [
      '`updated_at`: timestamp, equals created_at if never updated',
      by('updated_at: ', 'updated_at equals created_at'),
    ],
  ],
  Products: [
    [
      '`GET /api/v2/products`: query page, per_page; array of Product',
      by('GET /api/v2/products returns'),
    ],
    ['`GET /api/v2/products/:id`: Product', by('GET /api/v2/products/:id returns')],
    ['`POST /api/v2/products`: Product fields; Product', by('POST /api/v2/products returns')],
    [
      '`PUT /api/v2/products/:id`: any Product fields; Product',
      by('PUT /api/v2/products/:id returns'),
    ],
    ['`DELETE /api/v2/products/:id`: no body', by('DELETE /api/v2/products/:id has no body')],
    [
      'Older variant, create: required title (string), description (string, markdown), price (float), product_type (integer), gateways (array of string), currency (string, ISO 4217).',
      by(
        ...['title', 'description', 'price', 'product_type', 'gateways', 'currency'].map(
          (name) => `older variant, create: ${name} is required`,
        ),
      ),
    ],
    [
      'Optional: a boolean that hides the product from all listings, vpn_block (boolean), maximum_quantity (integer), minimum_quantity (integer), stock_delimiter (string), stock_amount (integer), crypto_confirmations (integer), max_risk_level (integer), dynamic_url (string), info (string), custom (array), webhook_url (string).',
      by(
        ...[
          ...['private', 'unlisted', 'vpn_block', 'maximum_quantity', 'minimum_quantity'],
          ...['stock_delimiter', 'stock_amount', 'crypto_confirmations', 'max_risk_level'],
          ...['dynamic_url', 'info', 'custom', 'webhook_url'],
        ].map((name) => `older variant, create and update: ${name} is optional`),
      ),
    ],
    [
      'Name of the listing-hiding boolean (private or unlisted): not shown.',
      assumed('hidingField'),
    ],
    ['All of these are optional on update.', by('older variant, update: all are optional')],
    [
      'Newer variant, create example sends: title, description, product_type (string enum), stock_delimiter, info, price, currency, gateways[index].',
      by('newer variant, create example sends'),
    ],
    [
      'Which newer fields are required, which others are writable on create and update, and the delete response status: not shown.',
      assumed('newerProducts'),
    ],
  ],
  Categories: [
    [
      '`GET /api/v2/categories`: query page, per_page; array of Category',
      by('GET /api/v2/categories returns'),
    ],
    ['`GET /api/v2/categories/:id`: Category', by('GET /api/v2/categories/:id returns')],
    [
      '`POST /api/v2/categories`: title (string, required), product_ids (array of string, required), unlisted (boolean, optional); Category',
      by('POST /api/v2/categories takes', 'title and product_ids are required'),
    ],
    [
      '`PUT /api/v2/categories/:id`: title, product_ids, unlisted (all optional); Category',
      by('PUT /api/v2/categories/:id takes'),
    ],
    ['`DELETE /api/v2/categories/:id`: no body', by('DELETE /api/v2/categories/:id has no body')],
  ],
};
