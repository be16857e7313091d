import * as z from 'zod/mini';

// Enumerations stay open: a value that the provider adds later is kept, and editors still offer the known ones.

export function openText<Known extends string>() {
  return z.custom<Known | (string & {})>((value) => typeof value === 'string', 'expected string');
}

export function openInteger<Known extends number>() {
  return z.custom<Known | (number & {})>(Number.isSafeInteger, 'expected integer');
}

/** Whole numbers and text: what is a code in one version of the provider may be a word in the next. */
export function openCode<Known extends number>() {
  return z.custom<Known | (number & {}) | (string & {})>(
    (value) => Number.isSafeInteger(value) || typeof value === 'string',
    'expected integer or string',
  );
}
