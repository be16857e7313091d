import { createReceiver, memoryStore } from 'storefront-webhooks';
import { type LambdaEvent, toLambda } from 'storefront-webhooks/lambda';
import { describe, expect, test } from 'vitest';
import { SECRET } from './apps/inside/contract.js';
import { HANDLED, orderOf, webhook, withoutCode } from './corpus.js';

const order = orderOf(1_000);
const headers = Object.fromEntries(
  webhook(order, 'whl_1').map(([name, value]) => [name, String(value)]),
);
const http = { requestContext: { http: { method: 'POST' } } };

function setUp() {
  const urls: (string | undefined)[] = [];
  const secret = ({ url }: { url?: string | undefined }) => {
    urls.push(url);
    return { secret: SECRET, scope: '' };
  };
  const hooks = { onError() {}, onRejected() {} };
  const receiver = createReceiver({ secret, store: memoryStore(), hooks }).on('*', () => {});
  return { handler: toLambda(receiver), urls };
}

/** An event of a trigger other than HTTP. */
const other = (event: unknown) => event as LambdaEvent;

describe('an event', () => {
  test.each([
    ['as text', { body: order.toString(), isBase64Encoded: false }],
    ['as text, without the field isBase64Encoded', { body: order.toString() }],
    ['in base64', { body: order.toString('base64'), isBase64Encoded: true }],
  ])('is handled with its body %s', async (_, body) => {
    const answer = await setUp().handler({ ...http, headers, ...body });
    expect({ ...answer, body: withoutCode(answer.body) }).toEqual({
      statusCode: 200,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'content-length': String(answer.body.length),
        'webhook-receipt': JSON.parse(answer.body).receipt,
      },
      body: HANDLED.body,
      isBase64Encoded: false,
    });
  });

  test.each([
    ['no headers', { headers: null, body: order.toString() }, 401],
    [
      'non-text headers',
      { headers: { ...headers, 'x-odd': null, 'x-number': 1 }, body: order.toString() },
      200,
    ],
    ['no body', { headers, body: null }, 401],
    ['broken base64', { headers, body: '*', isBase64Encoded: true }, 401],
    [
      'a second signature',
      {
        headers,
        multiValueHeaders: {
          'X-Service-Signature': ['0'.repeat(128), headers['X-Service-Signature']],
        },
        body: order.toString(),
      },
      401,
    ],
  ])('with %s is answered', async (_, event, status) => {
    expect((await setUp().handler(other({ ...http, ...event }))).statusCode).toBe(status);
  });

  const signature = headers['X-Service-Signature'] ?? '';
  const name = 'x-service-signature';
  test.each([
    ['with the same value', { [name]: [signature] }, 200],
    ['with the same value, twice', { [name]: [signature, signature] }, 401],
    ['with another value', { [name]: ['0'.repeat(128)] }, 401],
    ['twice', { [name]: [signature], [name.toUpperCase()]: [signature] }, 401],
    ['without a value', { [name]: undefined }, 200],
  ])('that lists a header in another spelling %s is answered', async (_, listed, status) => {
    const multiValueHeaders = { ...listed, 'X-SERVICE-EVENT': ['order:paid'] };
    const event = { ...http, headers, multiValueHeaders, body: order.toString() };
    expect((await setUp().handler(event)).statusCode).toBe(status);
  });

  test.each([
    ['an object', { id: 'ord_1' }],
    ['a list', []],
    ['a number', 1],
    ['false', false],
  ])('whose body a middleware has replaced by %s is answered with 500', async (_, body) => {
    expect((await setUp().handler(other({ ...http, headers, body }))).statusCode).toBe(500);
  });

  test('whose body is bytes is handled', async () => {
    const event = other({ ...http, headers, body: order });
    expect((await setUp().handler(event)).statusCode).toBe(200);
  });

  test.each([
    ['a function URL', { ...http, rawPath: '/webhooks', rawQueryString: 'shop=a%26b&shop=c' }],
    [
      'API Gateway, payload format 1.0',
      {
        httpMethod: 'POST',
        path: '/webhooks',
        queryStringParameters: { shop: 'c' },
        multiValueQueryStringParameters: { shop: ['a&b', 'c'] },
      },
    ],
    [
      'a load balancer',
      {
        requestContext: { elb: { targetGroupArn: 'arn' } },
        httpMethod: 'POST',
        path: '/webhooks',
        multiValueQueryStringParameters: { shop: ['a%26b', 'c'] },
      },
    ],
  ])('of %s passes its path and query to a secret function', async (_, event) => {
    const { handler, urls } = setUp();
    expect((await handler({ ...event, headers, body: order.toString() })).statusCode).toBe(200);
    expect(urls).toEqual(['/webhooks?shop=a%26b&shop=c']);
  });

  test.each([
    ['headers', 'a load balancer', { elb: {} }, false],
    ['multiValueHeaders', 'a load balancer with multi-value headers', { elb: {} }, true],
    ['headers', 'API Gateway, which sends both forms', {}, true],
  ] as const)('is answered with %s if it is of %s', async (form, _, requestContext, isMulti) => {
    const lists = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, [value]]),
    );
    const sent = isMulti ? { multiValueHeaders: lists } : { headers };
    const event = { requestContext, httpMethod: 'POST', ...sent, body: order.toString() };
    const { statusCode, body, isBase64Encoded, ...rest } = await setUp().handler(event);
    expect([statusCode, isBase64Encoded, Object.keys(rest)]).toEqual([200, false, [form]]);
    const length = String(Buffer.byteLength(body));
    expect(rest[form]).toMatchObject({
      'content-length': isMulti && form !== 'headers' ? [length] : length,
    });
  });

  test.each([
    ['a queue', { Records: [{ messageId: '1', body: order.toString() }] }],
    ['a timer', { 'detail-type': 'Scheduled Event' }],
    ['nobody', undefined],
  ])('of %s throws, because any answer would mean that it was handled', async (_, event) => {
    await expect(setUp().handler(other(event))).rejects.toMatchObject({
      name: 'UsageError',
      code: 'event_invalid',
    });
  });
});
