import { loadFixture, sign } from 'storefront-webhooks/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WEBHOOK_SECRET } from './shop.js';

const body = Buffer.from(loadFixture('order:paid').body);
const headers: Readonly<Record<string, string>> = {
  'content-type': 'application/json',
  'x-service-event': 'order:paid',
  'x-service-webhook': 'whl_1',
  'x-service-signature': sign(body, WEBHOOK_SECRET),
};

interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  /** Headers that are repeated with another value. */
  readonly repeated?: Readonly<Record<string, string>>;
  readonly isBase64Encoded: boolean;
}

const formats = {
  'a function URL': (sent: Sent) => ({
    ...secondFormat(sent),
    rawPath: '/',
    requestContext: {
      domainName: 'shop.lambda-url.eu-central-1.on.aws',
      http: { method: 'POST', path: '/', protocol: 'HTTP/1.1', sourceIp: '192.0.2.1' },
    },
  }),
  'API Gateway, payload format 2.0': (sent: Sent) => ({
    ...secondFormat(sent),
    routeKey: 'POST /webhooks',
    rawPath: '/webhooks',
    requestContext: {
      domainName: 'shop.execute-api.eu-central-1.amazonaws.com',
      http: { method: 'POST', path: '/webhooks', protocol: 'HTTP/1.1', sourceIp: '192.0.2.1' },
    },
  }),
  'API Gateway, payload format 1.0': ({ headers, repeated = {}, isBase64Encoded }: Sent) => ({
    version: '1.0',
    resource: '/webhooks',
    path: '/webhooks',
    httpMethod: 'POST',
    headers: { ...headers, ...repeated },
    multiValueHeaders: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, [value, repeated[name] ?? []].flat()]),
    ),
    queryStringParameters: null,
    requestContext: { httpMethod: 'POST', path: '/webhooks', stage: '$default' },
    body: body.toString(isBase64Encoded ? 'base64' : 'utf8'),
    isBase64Encoded,
  }),
};

function secondFormat({ headers, repeated = {}, isBase64Encoded }: Sent) {
  return {
    version: '2.0',
    rawQueryString: '',
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        [value, repeated[name] ?? []].flat().join(','),
      ]),
    ),
    body: body.toString(isBase64Encoded ? 'base64' : 'utf8'),
    isBase64Encoded,
  };
}

const log = vi.spyOn(console, 'log').mockImplementation(() => {});

beforeEach(() => {
  // A new instance for each test, with an empty memory.
  vi.resetModules();
  vi.stubEnv('WEBHOOK_SECRET', WEBHOOK_SECRET);
  vi.spyOn(console, 'error').mockImplementation(() => {});
  vi.spyOn(console, 'warn').mockImplementation(() => {});
});
afterEach(() => {
  log.mockClear();
  vi.unstubAllEnvs();
});

for (const [name, eventOf] of Object.entries(formats)) {
  const send = async (sent: Sent) => {
    const { handler } = await import('../../examples/lambda.js');
    const { statusCode, headers = {}, body } = await handler(eventOf(sent));
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    return `${statusCode} ${JSON.parse(body).outcome}`;
  };

  for (const isBase64Encoded of [false, true]) {
    const as = isBase64Encoded ? 'base64' : 'text';

    test(`${name}: delivers a paid order once, with its body as ${as}`, async () => {
      expect(await send({ headers, isBase64Encoded })).toBe('200 handled');
      expect(await send({ headers, isBase64Encoded })).toBe('200 duplicate');
      expect(log.mock.calls).toEqual([['Delivered order ord_5f2c9a7be1']]);
    });

    test(`${name}: rejects forged requests, with the body as ${as}`, async () => {
      const forged = { ...headers, 'x-service-signature': sign(body, 'another secret') };
      expect(await send({ headers: forged, isBase64Encoded })).toBe('401 rejected');
      expect(log).not.toHaveBeenCalled();
    });
  }

  test(`${name}: rejects a repeated event header, and accepts other repeated headers`, async () => {
    const isBase64Encoded = false;
    const events = { 'x-service-event': 'order:created' };
    expect(await send({ headers, repeated: events, isBase64Encoded })).toBe('400 rejected');
    const accepting = { ...headers, accept: 'application/json' };
    const repeated = { accept: 'text/plain' };
    expect(await send({ headers: accepting, repeated, isBase64Encoded })).toBe('200 handled');
  });
}
