import { assumed, by, type Chapter, field, unknown } from '../rule.js';

const subscribed = (event: string) => `webhook endpoints may subscribe to ${event}`;

/** The rules of webhooks, their endpoints and their logs. */
export const webhooks: Chapter = {
  'Webhook endpoint': [
    ['`id`: string', field('id')],
    [
      '`url`: string, destination of webhooks; HTTPS only',
      by('url: destination', 'url: HTTPS only'),
    ],
    ['`enabled`: boolean, true by default', field('enabled')],
    [
      '`enabled`: may be disabled automatically because of abuse or a high error rate',
      by('an endpoint with a high error rate is disabled'),
    ],
    [
      'The meaning of abuse and of a high rate.',
      unknown('the rate is a guess, and nothing counts as abuse'),
    ],
    ['`events`: array of string, subscribed event names', by('events: ', 'each enabled endpoint')],
    ['`created_at`: timestamp', field('created_at')],
    ['`updated_at`: timestamp, equals created_at if never updated', field('updated_at')],
    ['`enabled = true, creation`: enabled', field('enabled')],
    [
      '`enabled, automatic action`: abuse or high error rate, enabled = false',
      by('an endpoint with a high error rate', 'no retry is sent to'),
    ],
  ],
  'Webhook log': [
    ['`id`: string', field('id')],
    ['`url`: string, destination', field('url')],
    ['`payload`: object, body that was sent', field('payload')],
    ['`event`: string, event name, also sent in the event request header', field('event')],
    ['`response`: string, response body', field('response')],
    [
      '`response_code`: integer, HTTP status of the response; 0 while pending',
      by('response_code: ', 'has the response code 0'),
    ],
    ['`response_headers`: object, header name to header value', field('response_headers')],
    [
      '`retries`: integer, number of retries so far',
      by('retries: ', 'each retry has the same log and bytes'),
    ],
    [
      '`retry_limit`: integer, maximum retries for this request',
      by('retry_limit: ', 'a webhook is retried up to its retry_limit'),
    ],
    [
      '`next_retry_at`: timestamp, next automatic retry, when a retry is required',
      by('next_retry_at: ', 'a retry that was due when'),
    ],
    ['`created_at`: timestamp', field('created_at')],
    ['`updated_at`: timestamp', field('updated_at')],
    [
      '`pending (response_code 0), log created when the webhook request is sent`: response not yet received',
      by('has the response code 0'),
    ],
    [
      '`pending, response received`: response_code holds the HTTP status; response, response_headers stored',
      by('has the response code 0'),
    ],
  ],
  'Webhook endpoints': [
    [
      '`GET /api/v2/webhooks/endpoints`: query page; array of Webhook endpoint',
      by('GET /api/v2/webhooks/endpoints returns'),
    ],
    [
      '`GET /api/v2/webhooks/endpoints/:id`: Webhook endpoint',
      by('GET /api/v2/webhooks/endpoints/:id returns'),
    ],
    [
      '`POST /api/v2/webhooks/endpoints`: url (string, required), events (array of string, required); Webhook endpoint, 201',
      by('POST /api/v2/webhooks/endpoints returns', 'url and events are required'),
    ],
    [
      '`PUT /api/v2/webhooks/endpoints/:id`: url, events (optional); Webhook endpoint, 200',
      by('PUT /api/v2/webhooks/endpoints/:id takes'),
    ],
    [
      '`DELETE /api/v2/webhooks/endpoints/:id`: 204',
      by('DELETE /api/v2/webhooks/endpoints/:id returns 204'),
    ],
  ],
  'Webhook logs': [
    [
      '`GET /api/v2/webhooks/logs`: query page; array of Webhook log',
      by('GET /api/v2/webhooks/logs returns', 'newest first'),
    ],
    [
      '`GET /api/v2/webhooks/logs/:id`: Webhook log',
      by('GET /api/v2/webhooks/logs/:id returns', 'GET /api/v2/webhooks/logs/:id of a log'),
    ],
  ],
  Events: [
    [
      'Webhook requests are sent to HTTPS URLs only.',
      by('webhooks are sent to HTTPS URLs', '[spec: Webhook endpoint] url: HTTPS only'),
    ],
    ['`X-Service-Event`: event type', by('has the event, the signature and the id')],
    [
      '`X-Service-Signature`: signature',
      by('has the event, the signature and the id', 'the receiver mounted in'),
    ],
    [
      '`X-Service-Webhook`: id of the webhook log created for this request',
      by('has the event, the signature and the id', 'the receiver mounted in'),
    ],
    [
      '`feedback:updated`',
      by(subscribed('feedback:updated'), 'queries and feedback', 'feedback:created once'),
    ],
    [
      '`order:created`: payload is the Order object',
      by(subscribed('order:created'), 'order:created has', 'the payload of an order event'),
    ],
    ['`order:updated`', by(subscribed('order:updated'), 'the payload of an order event')],
    ['`order:paid`', by(subscribed('order:paid'), 'the payload of an order event')],
    ['`product:out_of_stock`', by(subscribed('product:out_of_stock'), 'product:out_of_stock is ')],
    [
      '`query:created`',
      by(subscribed('query:created'), 'queries and feedback', 'query:created, query:replied'),
    ],
    [
      '`query:replied`',
      by(subscribed('query:replied'), 'queries and feedback', 'query:created, query:replied'),
    ],
    [
      'Examples of subscriptions also contain the names `feedback:created` and `query:updated`.',
      by('examples of subscriptions also contain', 'queries and feedback'),
    ],
    [
      'Other webhook kinds: a product webhook (field webhook_url, older variant) and a payment webhook (parameter webhook_url) receive order status updates.',
      by('[spec: Product] the webhook_url of a product', '[spec: Payments] webhook_url receives'),
    ],
    [
      'A dynamic product calls its dynamic_url to generate goods.',
      by('a dynamic product calls its dynamic_url'),
    ],
    [
      'Each webhook request creates a Webhook log when the request is sent; its response_code is 0 until the response arrives.',
      by('[spec: Webhook log] has the response code 0'),
    ],
    [
      'A log holds retries, retry_limit and next_retry_at.',
      by(
        '[spec: Webhook log] retries: ',
        '[spec: Webhook log] retry_limit: ',
        '[spec: Webhook log] next_retry_at: ',
      ),
    ],
    ['Payload shapes of events other than order events: not shown.', assumed('eventPayloads')],
    ['Retry timing and the conditions that trigger a retry: not shown.', assumed('retries')],
    [
      'Request and response contract of the dynamic product call: not shown.',
      assumed('dynamicCall'),
    ],
    [
      'Which API operation emits which event: order events follow order activity;',
      assumed('emission'),
    ],
    [
      'the creation of a payment produces an order whose events reach subscribed endpoints.',
      by(
        'the creation of a payment produces an order',
        '[spec: Payments] the webhook_url of a payment',
      ),
    ],
  ],
};
