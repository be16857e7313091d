import { randomUUID } from 'node:crypto';

/** A new id of a record, with what it is of in front, such as `ord_`. */
export function newId(prefix: string): string {
  return `${prefix}_${randomUUID().replaceAll('-', '').slice(0, 20)}`;
}
