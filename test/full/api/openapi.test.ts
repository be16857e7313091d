import { createSandbox } from 'storefront-webhooks/sandbox';
import { describe, expect, test } from 'vitest';
import { type OpenApiOptions, toOpenApi } from '../../../src/api/openapi/document.js';
import { withInstalled } from '../../support/installed.js';
import { lint, validate } from '../../tools/openapi.js';

const served = async (variant: 'newer' | 'older') => {
  const response = await createSandbox({ variant }).fetch('http://localhost/openapi.json');
  return JSON.parse(await response.text());
};
const made = async (options: OpenApiOptions) => toOpenApi(options);

withInstalled('test/tools', 'other programs', () => {
  describe.each<[string, () => Promise<object>]>([
    ['of either variant', () => made({})],
    ['of the newer variant', () => made({ variant: 'newer' })],
    ['of the older variant', () => made({ variant: 'older' })],
    ['served by a sandbox of the newer variant', () => served('newer')],
    ['served by a sandbox of the older variant', () => served('older')],
  ])('accept the document %s', (_, document) => {
    test('as a parser, without a warning', async () => {
      expect(await validate(await document())).toMatchObject({ valid: true, warnings: [] });
    });

    test('as a linter, without advice', async () => {
      expect(await lint(await document())).toEqual([]);
    });
  });
});
