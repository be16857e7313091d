import fc from 'fast-check';
import qs from 'qs';
import { createClient } from 'storefront-webhooks/api';
import { afterAll, expect, test } from 'vitest';
import { runs } from '../support/tier.js';
import { json, startProvider } from './provider.js';

const provider = await startProvider();
afterAll(() => provider.stop());

const { products } = createClient({
  baseUrl: provider.origin,
  auth: { accessToken: 'tok_1' },
});

/** Returns the body that a call sends for these parameters. */
async function formOf(parameters: Record<string, unknown>): Promise<string> {
  provider.answers(json(200, { id: 'prd_1', title: 'Tuner', product_type: 'file' }));
  await products.update('prd_1', {}, { extra: parameters });
  return provider.received[0]?.body ?? '';
}

// An independent decoder, configured to accept all that the client may send.
const decode = (form: string) =>
  qs.parse(form, {
    allowEmptyArrays: true,
    arrayLimit: 1_000,
    parameterLimit: 10_000,
    depth: 10,
    plainObjects: true,
  });

const name = fc.stringMatching(/^[a-z]\w{0,8}$/);
const leaf = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.boolean(),
  fc.integer(),
  fc.constant(null),
  fc.constantFrom('a=b&c=d', 'a+b', '100 %', '[0]', '§ & ∞', '\r\n\t', '"é"'),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 30 }),
    fc.dictionary(name, tie('value'), { minKeys: 1, maxKeys: 4 }),
  ),
}));

/** Converts a value as a form does, which has only text. */
function asText(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asText);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, asText(one)]));
  }
  return value === null ? '' : String(value);
}

test('a second form decoder reads the sent parameters correctly', async () => {
  const parameters = fc.dictionary(name, value, { minKeys: 1, maxKeys: 5 });
  await fc.assert(
    fc.asyncProperty(parameters, async (sent) => {
      const read = JSON.parse(JSON.stringify(decode(await formOf(sent))));
      expect(read).toEqual(JSON.parse(JSON.stringify(asText(sent))));
    }),
    { numRuns: runs(300) },
  );
});

test('arrays are sent as name[index], percent-encoded as every form decoder expects', async () => {
  const sent = await formOf({ gateways: ['paypal', 'a b'], note: 'ä&=' });
  expect(sent).toBe('gateways%5B0%5D=paypal&gateways%5B1%5D=a+b&note=%C3%A4%26%3D');
});

test.each([
  [0.1, '0.1'],
  [19.9, '19.9'],
  [1e-7, '0.0000001'],
  [1e21, '1000000000000000000000'],
  [-0, '0'],
])('the number %d is sent as %s', async (number, text) => {
  expect(await formOf({ price: number })).toBe(`price=${text}`);
});

test('an undefined parameter is left out', async () => {
  expect(await formOf({ a: undefined, b: { c: 1, d: undefined } })).toBe('b%5Bc%5D=1');
});

test.each([
  [{ price: Number.NaN }, 'price is NaN'],
  [{ price: Number.POSITIVE_INFINITY }, 'price is Infinity'],
  [{ gateways: ['paypal', undefined] }, 'gateways[1] is undefined'],
  [{ custom: [{ type: () => 'select' }] }, 'custom[0][type] is function'],
  [{ custom: [{}] }, 'custom[0] is an object without fields'],
  [{ until: new Date(0) }, 'until is an object'],
  [{ ids: new Set(['prd_1']) }, 'ids is an object'],
])('%o is rejected before anything is sent', async (parameters, fault) => {
  await expect(formOf(parameters)).rejects.toMatchObject({
    name: 'UsageError',
    code: 'parameter_invalid',
    message: expect.stringContaining(`products.update: ${fault}, which a form cannot hold.`),
  });
  expect(provider.received).toEqual([]);
});
