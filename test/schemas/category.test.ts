import { categorySchema } from 'storefront-webhooks';
import { expect, test } from 'vitest';

const image = {
  id: 'fil_1',
  storage: 'public',
  url: 'https://files.example/tuner.png',
  metadata: { size: 48_213, filename: 'tuner.png', mime_type: 'image/png' },
};
const category = {
  id: 'cat_1',
  title: 'Tuners',
  product_ids: ['prd_1', 'prd_2'],
  unlisted: true,
  image,
  created_at: '2026-01-05T09:00:00.000000+00:00',
  updated_at: '2026-01-05T09:00:00.000000+00:00',
};

test('a category may have an image or null', () => {
  expect(categorySchema.read(category)).toEqual({ value: category, issues: [] });
  const plain = { ...category, image: null };
  expect(categorySchema.read(plain)).toEqual({ value: plain, issues: [] });
});

test('a category with an invalid image has no image, and an issue with its path', () => {
  const odd = { ...category, image: { ...image, metadata: { ...image.metadata, size: 'big' } } };
  expect(categorySchema.read(odd)).toEqual({
    value: { ...category, image: undefined },
    issues: [{ path: 'image.metadata.size', message: 'expected number' }],
  });
});

test('a category may be empty', () => {
  const empty = { ...category, product_ids: [] };
  expect(categorySchema.read(empty)).toEqual({ value: empty, issues: [] });
});

test('the products of a category are ids as text', () => {
  expect(categorySchema.read({ ...category, product_ids: ['prd_1', 2] })).toEqual({
    value: { ...category, product_ids: undefined },
    issues: [{ path: 'product_ids.1', message: 'expected string' }],
  });
});
