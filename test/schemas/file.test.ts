import { fileSchema, productSchema } from 'storefront-webhooks';
import { loadFixture } from 'storefront-webhooks/testing';
import { describe, expect, test } from 'vitest';

const product = JSON.parse(
  new TextDecoder().decode(loadFixture('product:out_of_stock/older').body),
);
const { image } = product;

function imageOf(input: unknown) {
  const reading = productSchema.read({ ...product, image: input });
  if ('value' in reading) return { image: reading.value.image, issues: reading.issues };
  throw new Error('expected a product');
}

describe('the image of a product', () => {
  test('is the file unchanged', () => {
    expect(imageOf(image)).toEqual({ image, issues: [] });
    expect(fileSchema.safeParse(image)).toMatchObject({ success: true, data: image });
  });

  test('keeps fields that the specification does not name', () => {
    const more = { ...image, alt: 'a tuner', metadata: { ...image.metadata, width: 640 } };
    expect(imageOf(more)).toEqual({ image: more, issues: [] });
  });

  test('cannot pollute a prototype with a key named __proto__', () => {
    const text = JSON.stringify(image).replaceAll('{', '{"__proto__":{"polluted":true},');
    const read = imageOf(JSON.parse(text)).image;
    expect(read).toEqual(image);
    expect(read).not.toHaveProperty('polluted');
    expect({}).not.toHaveProperty('polluted');
  });

  test.each([
    ['image.id', { ...image, id: undefined }, 'expected string'],
    ['image.storage', { ...image, storage: 1 }, 'expected string'],
    ['image.url', { ...image, url: null }, 'expected string'],
    ['image.metadata', { ...image, metadata: 'none' }, 'expected object'],
    [
      'image.metadata.size',
      { ...image, metadata: { ...image.metadata, size: 1.5 } },
      'expected int',
    ],
    [
      'image.metadata.filename',
      { ...image, metadata: { ...image.metadata, filename: 1 } },
      'expected string',
    ],
    [
      'image.metadata.mime_type',
      { ...image, metadata: { ...image.metadata, mime_type: null } },
      'expected string',
    ],
    ['image', 'https://files.example/tuner.png', 'expected object'],
  ])('that is invalid at %s is left out', (path, odd, message) => {
    expect(imageOf(odd)).toEqual({ image: undefined, issues: [{ path, message }] });
  });
});

test.each([
  ['id', 'string', 'file_1', 1],
  ['storage', 'string', 'local', null],
  ['url', 'string', 'https://files.example/1', {}],
  ['metadata.size', 'integer', 2048, 1.5],
  ['metadata.filename', 'string', 'tuner.png', 7],
  ['metadata.mime_type', 'string', 'image/png', false],
])('[spec: File object] %s: %s', (path, _, value, other) => {
  const [name = '', part] = path.split('.');
  const withField = (field: unknown) =>
    part
      ? { ...image, metadata: { ...image.metadata, [part]: field } }
      : { ...image, [name]: field };
  expect(imageOf(withField(value))).toEqual({ image: withField(value), issues: [] });
  expect(imageOf(withField(other)).image).toBeUndefined();
});
