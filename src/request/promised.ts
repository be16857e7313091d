import { isJsonObject } from '../schemas/values.js';

/** Returns a hint if a promise was returned where a value is needed synchronously; otherwise an empty text. */
export function hintAtPromise(given: unknown): string {
  const isPromise = isJsonObject(given) && 'then' in given;
  if (!isPromise) return '';
  // Nothing else handles this promise: if it rejected, it would end the process.
  Promise.resolve(given).catch(() => {});
  return ', and not a promise: remove the async';
}
