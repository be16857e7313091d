import { printable } from './printable.js';

/** One escaped line on stderr: for what must not go unnoticed where nobody has set a hook. */
export function writeLine(line: string): void {
  console.error(`storefront-webhooks: ${printable(line, 4000)}`);
}

let hasWarned = false;

/** Says once per process what the default store cannot promise. */
export function warnOfMemory(): void {
  if (hasWarned) return;
  hasWarned = true;
  writeLine(
    'deliveries are remembered in the memory of this process only, so one can be handled twice after a ' +
      'restart or by a second process. Implement IdempotencyStore over your database and pass it as `store`, ' +
      'or pass store: memoryStore() to say that this is meant.',
  );
}
