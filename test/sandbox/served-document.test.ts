import { parse, validate } from '@readme/openapi-parser';
import { Validator } from '@seriousme/openapi-schema-validator';
import { createSandbox } from 'storefront-webhooks/sandbox';
import { describe, expect, test } from 'vitest';
import { lint } from '../support/openapi-lint.js';
import { ENDPOINTS } from './conformance/endpoints.js';

const served = async (variant: 'newer' | 'older') => {
  const response = await createSandbox({ variant }).fetch('http://localhost/openapi.json');
  expect(response.status).toBe(200);
  return JSON.parse(await response.text());
};

describe.each(['newer', 'older'] as const)(
  'the document that a sandbox of the %s variant serves',
  (variant) => {
    test('is valid OpenAPI, says one validator', async () => {
      expect(await new Validator().validate(await served(variant))).toEqual({ valid: true });
    });

    test('and another one', async () => {
      expect(await validate(await parse(await served(variant)))).toMatchObject({ valid: true });
    });

    test('is valid by a linter, and none of its advice is left', async () => {
      expect(await lint(await served(variant))).toEqual([]);
    });

    test('has every endpoint of the specification, and what only a sandbox has', async () => {
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

    test('takes webhook URLs of this machine over plain HTTP', async () => {
      const text = JSON.stringify(await served(variant));
      expect(text).toContain(JSON.stringify('^https?:'));
      expect(text).not.toContain(JSON.stringify('^https:\\/\\/'));
    });
  },
);
