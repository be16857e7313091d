import { UsageError } from '../errors/errors.js';
import { refuseUnknownOption } from '../errors/text.js';
import { nameType } from '../runtime/bytes.js';
import type { IdempotencyStore } from '../stores/store.js';
import type { TransactionHandler } from '../stores/transactions.js';
import type { EffectOptions } from './handler.js';

const OPTIONS: readonly string[] = [
  'name',
  'formerly',
  'when',
  'oncePer',
  'skipOlder',
  'transaction',
] satisfies (keyof EffectOptions<never>)[];

/**
 * @param hint - Returns advice on an unknown option. Without it, the message suggests the nearest one.
 * @throws {UsageError} `handler_invalid`, because with a misspelled `oncePer` an order would be delivered twice.
 */
export function checkOptionNames(
  call: string,
  options: unknown,
  known = OPTIONS,
  hint?: (unknown: string) => string | undefined,
): void {
  const code = 'handler_invalid';
  if (typeof options !== 'object' || options === null)
    throw new UsageError(code, `${call} takes an object of options, not ${nameType(options)}.`);
  refuseUnknownOption(call, options, known, { code, hint });
}

/** @throws {UsageError} `handler_invalid` */
export function checkTransaction(
  transaction: unknown,
  registered: TransactionHandler,
  {
    transactions,
    description = 'your own',
  }: Pick<IdempotencyStore, 'transactions' | 'description'>,
): void {
  if (transaction === false) return;
  if (transaction === true && transactions) {
    transactions.check(registered);
    return;
  }
  throw new UsageError(
    'handler_invalid',
    'transaction is true or false, and true needs postgresStore(pool), sqliteStore(database), ' +
      `d1Store(env.DB) or storageStore(ctx.storage). The store is ${description}.`,
  );
}

/** @throws {UsageError} `handler_invalid` */
export function checkSkipOlder(
  skipOlder: unknown,
  {
    name,
    oncePer,
    patterns,
  }: { name: string | undefined; oncePer: unknown; patterns: readonly string[] },
): void {
  if (typeof skipOlder !== 'boolean') {
    throw new UsageError('handler_invalid', 'skipOlder has to be true or false.');
  }
  if (skipOlder && oncePer) {
    throw new UsageError(
      'handler_invalid',
      'skipOlder cannot be combined with oncePer, which ignores a newer state.',
    );
  }
  if (skipOlder && name === undefined && patterns.length > 1) {
    throw new UsageError(
      'handler_invalid',
      'skipOlder with several patterns needs a name, under which the store remembers the newest state: ' +
        ".on(…, handler, { name: 'mirror', skipOlder: true }).",
    );
  }
}
