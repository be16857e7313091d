import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { type OpenApiOptions, toOpenApi } from '../../src/api/openapi/document.js';

/** Returns a document as its readers get it: parsed from JSON, each in its own copy. */
const documentOf = (options = {}) => JSON.parse(JSON.stringify(toOpenApi(options)));

/** Returns the document with each reference replaced by its schema. */
async function resolved(options = {}) {
  const validator = new Validator();
  await validator.validate(documentOf(options));
  return Object(validator.resolveRefs());
}

describe.each<[string, OpenApiOptions]>([
  ['of either variant', {}],
  ['of the newer variant', { variant: 'newer' }],
  ['of the older variant', { variant: 'older' }],
])('the document %s', (_, options) => {
  test('is valid by the schema of OpenAPI 3.1', async () => {
    expect(await new Validator().validate(documentOf(options))).toEqual({ valid: true });
  });
});

describe('the document', async () => {
  const document = await resolved();
  const newer = await resolved({ variant: 'newer' });
  const older = await resolved({ variant: 'older' });
  const at = (root: unknown, path: string): unknown =>
    path.split(' ').reduce((value, key) => Object(value)[key], root);

  test('has every endpoint of the specification with its success and its errors', () => {
    const rows = Object.entries(Object(document.paths)).flatMap(([path, methods]) =>
      Object.entries(Object(methods)).map(
        ([method, operation]) =>
          `${method.toUpperCase()} ${path}: ${Object.keys(Object(at(operation, 'responses')))}`,
      ),
    );
    const crud = (path: string) => [
      `GET ${path}: 200,400,401,403,406,429,500,503`,
      `POST ${path}: 201,400,401,403,406,429,500,503`,
      `GET ${path}/{id}: 200,401,403,404,406,429,500,503`,
      `PUT ${path}/{id}: 200,400,401,403,404,406,429,500,503`,
      `DELETE ${path}/{id}: 204,401,403,404,406,429,500,503`,
    ];
    const readOnly = (path: string) => crud(path).filter((row) => row.startsWith('GET'));
    expect(rows.sort()).toEqual(
      [
        ...crud('/api/v2/products'),
        ...crud('/api/v2/categories'),
        ...readOnly('/api/v2/orders'),
        ...crud('/api/v2/blacklist'),
        ...crud('/api/v2/webhooks/endpoints'),
        ...readOnly('/api/v2/webhooks/logs'),
        ...crud('/api/v2/pay').filter((row) => /^(POST|DELETE)/.test(row)),
      ].sort(),
    );
  });

  test('describes the fields of every response', () => {
    for (const methods of Object.values(Object(document.paths))) {
      for (const [method, operation] of Object.entries(Object(methods))) {
        const success = method === 'post' ? '201' : '200';
        const schema = at(operation, `responses ${success} content application/json schema`);
        if (method === 'delete') expect(schema).toBeUndefined();
        else
          expect(JSON.stringify(schema), String(at(operation, 'operationId'))).toMatch(
            /"(id|url)"/,
          );
      }
    }
  });

  test('lists both schemes of authentication as alternatives, bearer last', () => {
    expect(document.security).toEqual([{ basic: [] }, { bearer: [] }]);
    expect(at(document, 'components securitySchemes')).toMatchObject({
      bearer: { type: 'http', scheme: 'bearer' },
      basic: { type: 'http', scheme: 'basic' },
    });
  });

  test('has the query of a list and its total', () => {
    const list = at(document, 'paths /api/v2/orders get');
    expect(at(list, 'parameters')).toMatchObject([
      { name: 'page', in: 'query', schema: { type: 'integer', minimum: 1, default: 1 } },
      {
        name: 'per_page',
        in: 'query',
        schema: { type: 'integer', minimum: 10, maximum: 50, default: 20 },
      },
    ]);
    expect(at(list, 'responses 200 headers')).toHaveProperty('X-Total-Pages');
    expect(at(list, 'responses 200 content application/json schema type')).toBe('array');
  });

  test('sends forms with lists as name[index]', () => {
    const body = 'requestBody content application/x-www-form-urlencoded';
    const form = at(newer, `paths /api/v2/products post ${body}`);
    expect(at(form, 'schema required')).toEqual([
      'title',
      'description',
      'price',
      'currency',
      'product_type',
      'gateways',
    ]);
    expect(at(form, 'encoding gateways')).toEqual({ style: 'deepObject', explode: true });
    expect(at(form, 'schema properties max_risk_level')).toMatchObject({
      type: 'integer',
      default: 30,
      minimum: 0,
      maximum: 100,
    });
    expect(at(newer, `paths /api/v2/products/{id} put ${body} schema`)).not.toHaveProperty(
      'required',
    );
    const olderForm = `paths /api/v2/products post ${body} schema properties`;
    expect(at(older, `${olderForm} product_type`)).toMatchObject({
      type: 'integer',
      minimum: 1,
      maximum: 4,
    });
    expect(at(document, `paths /api/v2/products post ${body} schema anyOf`)).toHaveLength(2);
  });

  test('describes each field of every request and response, and each parameter', () => {
    const bare: string[] = [];
    const walk = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null) return;
      const { properties = {}, parameters = [] } = Object(value);
      for (const [name, field] of Object.entries({ ...properties, ...parameters }))
        if (!Object(field).description) bare.push(`${path} ${name}`);
      for (const [name, part] of Object.entries(value)) walk(part, `${path} ${name}`);
    };
    walk(documentOf().paths, 'paths');
    for (const [name, schema] of Object.entries(Object(documentOf().components).schemas))
      if (!name.endsWith('Error')) walk(schema, name);
    expect(bare).toEqual([]);
  });

  test('has the product of each variant', () => {
    const product = 'paths /api/v2/products/{id} get responses 200 content application/json schema';
    const shapes = [newer, older].map((one) => Object(at(one, `${product} properties`)));
    const [inNewer, inOlder] = shapes;
    expect(inNewer).toMatchObject({
      product_type: { type: 'string', enum: ['file', 'serials', 'dynamic', 'service'] },
      theme: { type: 'string' },
      price: { type: 'string', pattern: '^-?\\d+([.]\\d+)?$' },
      stock: { anyOf: [{ type: 'integer', minimum: 0 }, { const: '∞' }] },
      hide_stock: { type: ['boolean', 'null'] },
      created_at: { type: 'string', format: 'date-time' },
      image: { anyOf: [{ properties: { metadata: { type: 'object' } } }, { type: 'null' }] },
    });
    expect(inNewer).not.toHaveProperty('webhook_url');
    expect(inOlder).toMatchObject({
      product_type: { type: 'integer' },
      theme: { type: 'integer' },
      webhook_url: { type: ['string', 'null'] },
    });
    expect(at(document, `${product} anyOf`)).toHaveLength(2);
  });

  test('has each webhook with its three headers', () => {
    expect(Object.keys(Object(document.webhooks)).sort()).toEqual([
      'feedback:created',
      'feedback:updated',
      'order:created',
      'order:paid',
      'order:updated',
      'product:out_of_stock',
      'query:created',
      'query:replied',
      'query:updated',
    ]);
    const paid = at(document, 'webhooks order:paid post');
    expect(Array.from(Object(at(paid, 'parameters')), (header) => at(header, 'name'))).toEqual([
      'X-Service-Event',
      'X-Service-Signature',
      'X-Service-Webhook',
    ]);
    expect(at(paid, 'security')).toEqual([]);
    expect(at(paid, 'requestBody content application/json schema properties')).toHaveProperty(
      'usd_value',
    );
    expect(
      at(document, 'webhooks query:replied post requestBody content application/json schema'),
    ).toEqual({ type: 'object' });
  });
});
