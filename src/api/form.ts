import * as z from 'zod/mini';
import { UsageError } from '../errors/errors.js';
import { nameType } from '../runtime/bytes.js';
import { decimal } from '../schemas/values.js';

/**
 * Encodes parameters as a form, with arrays as `name[index]` (specification: Rules for all endpoints). The
 * specification does not show how to send empty values: `null` is sent as an empty value, and an empty list
 * as `name[]`. A parameter that is `undefined` is left out.
 *
 * @throws {UsageError} `parameter_invalid`
 */
export function toForm(operation: string, parameters: object): string {
  const form = new URLSearchParams();
  const add = (name: string, value: unknown): void => {
    if (Array.isArray(value)) {
      if (value.length === 0) form.append(`${name}[]`, '');
      for (const [index, item] of value.entries()) add(`${name}[${index}]`, item);
      return;
    }
    if (isPlain(value)) {
      const fields = Object.entries(value).filter(([, field]) => field !== undefined);
      if (fields.length === 0) throw unsendable(operation, name, 'an object without fields');
      for (const [key, field] of fields) add(`${name}[${key}]`, field);
      return;
    }
    const text = toFormText(value);
    if (text === undefined) {
      throw unsendable(operation, name, typeof value === 'number' ? `${value}` : nameType(value));
    }
    form.append(name, text);
  };
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) add(name, value);
  }
  return form.toString();
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

function toFormText(value: unknown): string | undefined {
  if (value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  // A number never has an exponent, such as 1e-7. `undefined` if it is NaN or infinite.
  return typeof value === 'number' ? z.safeParse(decimal, value).data : undefined;
}

function unsendable(operation: string, name: string, what: string): UsageError {
  return new UsageError(
    'parameter_invalid',
    `${operation}: ${name} is ${what}, which a form cannot hold. Send text, a finite number, true, false, null, or a list or an object of these.`,
  );
}
