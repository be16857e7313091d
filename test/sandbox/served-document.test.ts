import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { createSandbox } from 'storefront-webhooks/sandbox';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { ENDPOINTS } from './conformance/endpoints.js';
import { TUNER } from './seller.js';

const served = async (variant: 'newer' | 'older') => {
  const response = await createSandbox({ variant }).fetch('http://localhost/openapi.json');
  expect(response.status).toBe(200);
  return JSON.parse(await response.text());
};

test('the document contains a serializer for the lists of generated clients', async () => {
  const { info } = await served('newer');
  const [, code = ''] = /^```ts\n(.*?)^```$/ms.exec(info.description) ?? [];
  expect(readFileSync('docs/sandbox.md', 'utf8')).toContain(`\`\`\`ts\n${code}\`\`\``);
  const { outputText } = ts.transpileModule(code, { compilerOptions: { target: 99 } });
  const bodySerializer = new Function(`${outputText}; return bodySerializer;`)();
  const custom = [
    { type: 'text', name: 'handle', required: true },
    { type: 'number', name: 'age', required: false },
  ];
  const { title, description, price, currency } = TUNER;
  const gateways = ['bitcoin', 'paypal'];
  const product = {
    title,
    description,
    price,
    currency,
    product_type: 'serials',
    gateways,
    custom,
  };
  const sandbox = createSandbox();
  const send = (method: string, path: string, body: object) =>
    sandbox.fetch(`http://localhost/api/v2/products${path}`, {
      method,
      headers: {
        authorization: 'Bearer sk_test_generated',
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: bodySerializer(body),
    });
  const response = await send('POST', '', { ...product, info: null, warranty: undefined });
  const created = JSON.parse(await response.text());
  expect(created).toMatchObject({ ...product, info: null });
  expect(response.status).toBe(201);
  const emptied = await send('PUT', `/${created.id}`, { custom: [] });
  expect(await emptied.json()).toMatchObject({ ...product, custom: [] });
});

describe.each(['newer', 'older'] as const)(
  'the document of a sandbox of the %s variant',
  (variant) => {
    test('is valid OpenAPI', async () => {
      expect(await new Validator().validate(await served(variant))).toEqual({ valid: true });
    });

    test('has every endpoint of the specification, and the endpoints of the sandbox itself', async () => {
      const { paths } = await served(variant);
      const operations = Object.entries<Record<string, { operationId: string }>>(paths).flatMap(
        ([path, methods]) =>
          Object.values(methods).map(({ operationId }) => ({ path, operationId })),
      );
      const ofService = operations.filter(({ path }) => path.startsWith('/api/v2'));
      expect(ofService.map(({ operationId }) => operationId).sort()).toEqual(
        ENDPOINTS.map(([, , operation]) => operation).sort(),
      );
      const own = operations.filter(({ path }) => !path.startsWith('/api/v2'));
      expect(own.map(({ operationId }) => operationId)).toContain('sandbox.buy');
      for (const { path, operationId } of own) {
        expect(path).toMatch(/^\/sandbox\//);
        expect(operationId).toMatch(/^sandbox\.\w+$/);
      }
    });

    test('allows webhook URLs on this machine over plain HTTP', async () => {
      const text = JSON.stringify(await served(variant));
      expect(text).toContain(JSON.stringify('^https?:'));
      expect(text).not.toContain(JSON.stringify('^https:\\/\\/'));
    });
  },
);
