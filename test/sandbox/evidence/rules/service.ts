import { assumed, by, type Chapter, unknown } from '../rule.js';

/** The rules of the whole service. */
export const service: Chapter = {
  'What the service does': [
    [
      'The service is a JSON REST interface to a seller account on a digital-goods storefront.',
      by('responses are JSON'),
    ],
    ['manage products (create, list, retrieve, update, delete);', by('[spec: Products] ')],
    ['manage categories that group products;', by('[spec: Categories] ')],
    ['read orders (list, retrieve);', by('[spec: Orders] ')],
    [
      'manage blacklist entries that block emails, IP addresses or country codes;',
      by('[spec: Blacklist] ', '[spec: Blacklist entry] blacklist_type'),
    ],
    [
      'manage webhook endpoints and read webhook logs;',
      by('[spec: Webhook endpoints] ', '[spec: Webhook logs] '),
    ],
    [
      'create and delete payments, in an integrated flow (a hosted checkout URL is returned) or a white-label flow (the raw order is returned).',
      by('[spec: Payment result] ', '[spec: Payments] DELETE'),
    ],
    [
      'The service also sends webhook requests to HTTPS URLs when order and other events happen.',
      by('[spec: Events] webhooks are sent to HTTPS URLs', '[spec: Webhook endpoint] each enabled'),
    ],
    [
      'Root address: `{base_url}/api/v2/`. All paths below start with `/api/v2`.',
      by('[spec: Versioning] the version is part of the path'),
    ],
    ['All requests must use HTTPS.', by('[spec: Authentication] all requests use HTTPS')],
    ['Responses are JSON.', by('responses are JSON')],
  ],
  'Resources and their fields': [
    [
      'Conventions: timestamps are ISO 8601 date-times with a UTC offset and fractional seconds (`<timestamp>`).',
      by('timestamps are ISO 8601'),
    ],
    [
      'Monetary amounts and exchange rates are serialised as decimal strings in responses.',
      by('monetary amounts and exchange rates'),
    ],
    ['`null` means the value is absent.', by('null means the value is absent')],
  ],
  'Rules for all endpoints': [
    [
      'Every request carries credentials (see Authentication).',
      by('[spec: Authentication] every request carries credentials'),
    ],
    [
      'Request examples send parameters as form-encoded fields; arrays are sent as `name[index]`.',
      by('request examples send form-encoded fields'),
    ],
    [
      'Every list endpoint is paginated with query parameters `page` (integer, default 1) and `per_page` (integer, default 20, allowed 10 to 50).',
      by('lists are sorted by creation date', 'per_page sets', '[spec: Limits] per_page of'),
    ],
    [
      'The response header `X-Total-Pages` holds the total page count.',
      by('lists are JSON arrays'),
    ],
    ['List responses are JSON arrays.', by('lists are JSON arrays')],
    [
      'Older variant: sorted by creation date, newest first.',
      by('lists are sorted by creation date'),
    ],
    [
      'Create returns the created object (status 201 in the older variant); update returns the updated object (200); delete returns 204 with no body in the older variant.',
      by('create returns', 'update returns', 'delete returns 204'),
    ],
    ['Update requests send only the fields to change.', by('update returns the updated object')],
    [
      'Deleting a product or a category is permanent.',
      by('deleting a product', 'deleting a category'),
    ],
  ],
  Authentication: [
    ['Credentials go in the `Authorization` header.', by('every request carries credentials')],
    ['All requests must use HTTPS.', by('all requests use HTTPS')],
    [
      'Older variant: basic authentication with the account email and the account API key (`<EMAIL>`, `<API_KEY>`).',
      by('older variant: basic authentication', 'basic: email and API key'),
    ],
    [
      'The key can be viewed and re-generated in the account settings.',
      unknown('the dashboard is not part of the API'),
    ],
    [
      'Newer variant examples: `Authorization: Bearer <ACCESS_TOKEN>`.',
      by('newer variant examples: Authorization'),
    ],
    [
      'Which credential scheme applies to which deployment: not shown.',
      assumed('credentials', 'which scheme applies is not shown'),
    ],
    [
      'A request that cannot be authenticated gets 401.',
      by('a request that cannot be authenticated'),
    ],
    [
      'A request that is authenticated but not permitted gets 403.',
      by('a request that is authenticated but not permitted'),
    ],
    [
      'The requests that an account is not permitted to make.',
      unknown('in the sandbox, a read-only key cannot change anything'),
    ],
    [
      'Each webhook request has the header `X-Service-Signature`.',
      by('[spec: Events] has the event, the signature and the id'),
    ],
    [
      "Its value is the hexadecimal HMAC using SHA-512 of the JSON-encoded request body, keyed with the account's webhook secret (`<SIGNING_SECRET>`, changeable in account settings).",
      by('is signed over exactly the sent bytes', 'is signed with the secret'),
    ],
    [
      'A receiver recomputes the value and compares it with the header using a constant-time comparison.',
      by('constant-time comparison', '[spec: Events] the receiver mounted in'),
    ],
  ],
  Errors: [
    ['Errors appear only with HTTP status 400 to 503.', by('errors appear only with')],
    ['Every error body has a string `message`.', by('every error body has a string message')],
    [
      'Validation errors (400) also have `errors`, an array of strings, one per failed check.',
      by('validation errors (400) have errors'),
    ],
    [
      '`400`: Bad request, invalid parameters (validation failure, message is a validation-failed text)',
      by('400: '),
    ],
    [
      '`401`: Unable to authenticate',
      by('[spec: Authentication] a request that cannot be authenticated'),
    ],
    [
      '`403`: Request not allowed; message says the caller is not authorised for the action',
      by('[spec: Authentication] a request that is authenticated but not permitted'),
    ],
    ['`404`: Resource not found', by('404: ')],
    ['`406`: A format other than JSON was requested', by('406: ')],
    ['`429`: Rate limit reached', by('every error body has a string message: 429')],
    ['`500`: Server problem, try again later', by('every error body has a string message: 500')],
    [
      '`503`: Temporarily offline for maintenance',
      by('every error body has a string message: 503'),
    ],
  ],
  Limits: [
    [
      '`page`: default 1, every list endpoint',
      by('page of ', '[spec: Rules for all endpoints] lists are sorted'),
    ],
    [
      '`per_page`: default 20, allowed 10 to 50, list endpoints',
      by('per_page of ', '[spec: Rules for all endpoints] lists are sorted'),
    ],
    [
      '`payment confirmations`: 0 to 6, default 1, create payment',
      by('payment confirmations: ', '[spec: Payments] crypto confirmations needed'),
    ],
    [
      '`product crypto_confirmations`: default 1, older product variant',
      by('[spec: Product] older variant, crypto_confirmations: '),
    ],
    ['`minimum_quantity`: default 1, product', by('[spec: Product] minimum_quantity: ')],
    ['`maximum_quantity`: default null, product', by('[spec: Product] maximum_quantity: ')],
    ['`max_risk_level`: default 30, product', by('[spec: Product] max_risk_level: ')],
    [
      '`stock_delimiter`: default `,`, product',
      by('[spec: Product] for the serials type info is split'),
    ],
    [
      '`webhook retries`: bounded by retry_limit per log, webhook requests',
      by('[spec: Webhook log] a webhook is retried up to its retry_limit'),
    ],
    [
      '`transport`: HTTPS only, all requests and webhook URLs',
      by(
        '[spec: Authentication] all requests use HTTPS',
        '[spec: Webhook endpoint] url: HTTPS only',
      ),
    ],
    ['Rate limit thresholds and size limits (a 429 exists): not shown.', assumed('limits')],
  ],
  Versioning: [
    ['The version is part of the path: `/api/v2`.', by('the version is part of the path')],
    [
      'Two shapes of the product resource are described (newer and older, see Resources and their fields).',
      by('two shapes of the product resource'),
    ],
    [
      'Which one a deployment returns: not shown beyond the differences listed.',
      assumed('variant'),
    ],
    ['Deprecation policy and version negotiation by header: not shown.', assumed('deprecation')],
  ],
};
