import { randomUUID } from 'node:crypto';

/** Returns a new id for a record, with the prefix of its kind, such as `ord` for an order. */
export function newId(prefix: string): string {
  return `${prefix}_${randomUUID().replaceAll('-', '').slice(0, 20)}`;
}
