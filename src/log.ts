import { printable } from './printable.js';

/** One escaped line on stderr: for what must not go unnoticed where nobody has set a hook. */
export function writeLine(line: string): void {
  console.error(`storefront-webhooks: ${printable(line, 4000)}`);
}

let hasWarned = false;

/**
 * Says once per process what the default store cannot promise.
 *
 * @param durableStores - What the platform offers instead, where it starts and stops instances as it likes.
 */
export function warnOfMemory(durableStores?: string): void {
  if (hasWarned) return;
  hasWarned = true;
  const [problem, store] = durableStores
    ? [
        'this platform starts and stops instances, and each remembers its own deliveries only',
        durableStores,
      ]
    : [
        'deliveries are remembered in the memory of this process only',
        'sqliteStore(…), postgresStore(…) or redisStore(…)',
      ];
  writeLine(
    `${problem}, so one can be handled twice. Pass ${store} as \`store\`, ` +
      'or memoryStore() to say that this is meant.',
  );
}
