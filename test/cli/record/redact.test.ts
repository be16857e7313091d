import { describe, expect, test } from 'vitest';
import { redact, redactHeaders, redactQuery } from '../../../src/cli/record/redact.js';

const redacted = (text: string) => redact(text).text;

describe('redact', () => {
  test('replaces customer data, and keeps every other byte', () => {
    const body =
      '{ "id":"ord_1", "value" : 10.0,"email":"jane@shop.test",\r\n"gateway":"a\\/b","crypto_value":9007199254740993,"quantit\\u0079":1e2,"delivered":null }';
    expect(redact(body)).toEqual({
      text: body.replace('jane@shop.test', 'buyer@example.com'),
      redacted: ['/email'],
    });
  });

  test.each([
    ['ip_address', '"203.0.113.9"', '"192.0.2.1"'],
    ['user_agent', '"Mozilla/5.0 (X11)"', '"Mozilla/5.0"'],
    ['delivered', '"KEY-1"', '"redacted"'],
    ['delivered', '["KEY-1",{"key":"KEY-2"}]', '["redacted",{"key":"redacted"}]'],
    ['info', '"KEY-1,KEY-2"', '"redacted"'],
    ['custom', '{"discord":"jane#1","size":42}', '{"discord":"redacted","size":0}'],
    ['billing_address', '{"line_1":"1 Road","zip":1234}', '{"line_1":"redacted","zip":0}'],
    ['first_name', '"Jane"', '"redacted"'],
    ['referral', '"https://x.test/?token=1"', '"https://example.com/redacted"'],
    ['dynamic_url', '"https://x.test/goods?key=1"', '"https://example.com/redacted"'],
    ['webhook_url', '"https://x.test/hooks/key-1"', '"https://example.com/redacted"'],
    ['message', '"I am Jane"', '"redacted"'],
  ])('%s: %s', (field, value, standIn) => {
    const body = `{"id":1,"${field}":${value},"status":100}`;
    expect(redact(body)).toEqual({
      text: `{"id":1,"${field}":${standIn},"status":100}`,
      redacted: [`/${field}`],
    });
  });

  test('finds customer data in a wrapped record, in a list, and under an escaped or a duplicate name', () => {
    expect(redact('{"event":"order:paid","data":{"email":"a@b.test"}}').redacted).toEqual([
      '/data/email',
    ]);
    expect(redact('[{"a/b~":{"email":"a@b.test"}}]').redacted).toEqual(['/0/a~1b~0/email']);
    expect(redacted('{"\\u0065mail":"jane"}')).toBe('{"\\u0065mail":"buyer@example.com"}');
    expect(redacted('{"email":"one","email":"two"}')).not.toMatch(/one|two/);
  });

  test.each([
    '{"product_title":"write to jane@shop.test"}',
    '{"gateway":"jane\\u0040shop.test"}',
    '["from 203.0.113.9"]',
    '{"product_id":"2001:db8::1"}',
    '{"jane@shop.test":1}',
    '"{\\"name\\":\\"jane\\"}"',
  ])('replaces text that looks like customer data in other fields: %s', (body) => {
    expect(redacted(body)).not.toMatch(/jane|203|db8/);
    expect(() => JSON.parse(redacted(body))).not.toThrow();
  });

  test('names no customer in the pointer to a value below a name that it replaces', () => {
    const body = '{"seats":{"jane@shop.test":"admin","203.0.113.9":{"role":"owner"}}}';
    expect(redact(body)).toEqual({
      text: '{"seats":{"redacted":"redacted","redacted":{"role":"redacted"}}}',
      redacted: ['/seats', '/seats/redacted', '/seats/redacted/role'],
    });
  });

  test('replaces the values of unknown fields', () => {
    const body =
      '{"id":"ord_1","passport":"X12","buyer":{"age":42,"since":"2020","is_new":true,"order_id":"a"},"tags":["jane",7,[{"status":1}]]}';
    expect(redact(body)).toEqual({
      text: '{"id":"ord_1","passport":"redacted","buyer":{"age":0,"since":"redacted","is_new":true,"order_id":"a"},"tags":["redacted",0,[{"status":1}]]}',
      redacted: ['/passport', '/buyer/age', '/buyer/since', '/tags'],
    });
  });

  test('replaces the values of unknown fields whose names only look like those of ids and dates', () => {
    const body =
      '{"telegram_user_id":81321,"steam_id":"jane","called_at":"the blue house","seen_at":4930123456,"paid_at":"2026-11-20T10:00:00Z","sent_at":1763000011,"created_at":"2026-11-20 10:00:00.000000","order_id":"ord_1"}';
    expect(redact(body)).toEqual({
      text: '{"telegram_user_id":0,"steam_id":"redacted","called_at":"redacted","seen_at":0,"paid_at":"2026-11-20T10:00:00Z","sent_at":1763000011,"created_at":"2026-11-20 10:00:00.000000","order_id":"ord_1"}',
      redacted: ['/telegram_user_id', '/steam_id', '/called_at', '/seen_at'],
    });
  });

  test('keeps the text and the value of a record, and replaces them in other objects', () => {
    const product = '"description":"A **tool**","warranty":"30 days","value":"19.90"';
    const wrapped = `[{"data":{"product":{${product}}}},{${product}}]`;
    expect(redact(wrapped)).toEqual({ text: wrapped, redacted: [] });
    const answers =
      '{"answers":[{"id":7,"value":"Jane Doe"},{"value":"015112345678"},{"value":4111111111111111}],"buyer":{"description":"tall","data":{"warranty":"since birth"}},"value":"ten"}';
    expect(redact(answers)).toEqual({
      text: '{"answers":[{"id":7,"value":"redacted"},{"value":"redacted"},{"value":0}],"buyer":{"description":"redacted","data":{"warranty":"redacted"}},"value":"redacted"}',
      redacted: [
        '/answers/0/value',
        '/answers/1/value',
        '/answers/2/value',
        '/buyer/description',
        '/buyer/data/warranty',
        '/value',
      ],
    });
  });

  test.each([
    ['{"resource":{"id":"ord_1","value":"12.50"}}'],
    ['{"feedback":{"order":{"value":10.0}}}'],
    ['{"record":{"value":-0.5}}'],
  ])('keeps the price of a record in any wrapper, for the handlers that check it: %s', (body) => {
    expect(redact(body)).toEqual({ text: body, redacted: [] });
  });

  test.each(['"0151.12345678"', '"015112345678"', '4111111111111111', '48.13743', '1234567890.5'])(
    'replaces a number that is no price in a form: %s',
    (value) => {
      expect(redact(`{"answers":[{"value":${value}}]}`).redacted).toEqual(['/answers/0/value']);
    },
  );

  test('leaves fields without customer data', () => {
    const body =
      '{"id":"ord_1","product_id":"p","product_title":"Tuner 2.0","country_code":"DE","value":"19.90","status":100,"email":"","custom":{},"delivered":null,"created_at":"2026-11-20T10:00:00.000000+00:00"}';
    expect(redact(body)).toEqual({ text: body, redacted: [] });
  });

  test('keeps a byte order mark, and handles deep nesting', () => {
    expect(redacted('\uFEFF{"email":"jane"}')).toBe('\uFEFF{"email":"buyer@example.com"}');
    const deep = `${'['.repeat(200_000)}"a@b.test"${']'.repeat(200_000)}`;
    expect(redacted(deep)).toBe(deep.replace('a@b.test', 'redacted'));
    const long = `{"custom":[${'"jane",'.repeat(100_000)}0]}`;
    expect(redact(long).redacted).toEqual(['/custom']);
  });

  test('throws if the text is not valid JSON', () => {
    expect(() => redact('email=jane@shop.test')).toThrow(SyntaxError);
  });
});

describe('redactHeaders', () => {
  test.each([
    'Cookie',
    'Authorization',
    'proxy-authorization',
    'X-Forwarded-For',
    'Forwarded',
    'CF-Connecting-IP',
    'x-real-ip',
    'X-Auth-Token',
    'X-Api-Key',
    'X-Client-Secret',
  ])('replaces the value of %s', (name) => {
    expect(redactHeaders([[name, 'jane=1']], 'X-Service-Signature')).toEqual([[name, 'redacted']]);
  });

  test('replaces the values of all such headers, also of one that was sent twice', () => {
    const headers = [
      ['Cookie', 'a=jane'],
      ['Authorization', 'Bearer jane'],
      ['cookie', 'b=jane'],
      ['X-Service-Signature', 'ab12'],
      ['x-service-signature', 'cd34'],
    ] as const;
    expect(redactHeaders(headers, 'X-Service-Signature')).toEqual([
      ['Cookie', 'redacted'],
      ['Authorization', 'redacted'],
      ['cookie', 'redacted'],
      ['X-Service-Signature', ''],
      ['x-service-signature', ''],
    ]);
  });

  test('removes the signature, which replay makes again, and nothing else', () => {
    expect(
      redactHeaders(
        [
          ['x-service-signature', 'ab12'],
          ['X-Service-Event', 'order:paid'],
          ['Content-Type', 'application/json'],
          ['User-Agent', 'Service'],
        ],
        'X-Service-Signature',
      ),
    ).toEqual([
      ['x-service-signature', ''],
      ['X-Service-Event', 'order:paid'],
      ['Content-Type', 'application/json'],
      ['User-Agent', 'Service'],
    ]);
  });
});

test.each(['accessKey', 'access_key', 'userPass', 'key[]'])(
  'the query parameter %s is replaced, because it holds a credential',
  (name) => {
    const { text } = redactQuery(`/webhooks?${name}=a-credential&monkey=1&design=2`);
    expect(text).toBe(`/webhooks?${name}=redacted&monkey=1&design=2`);
  },
);
