import { UsageError } from '../errors/errors.js';

/** An effect, as a ledger records it. The event of a handler has both fields. */
export interface Effect {
  /** The key of the event: 64 hexadecimal digits. */
  readonly key: string;
  /** The name of the handler. */
  readonly handler: string;
}

/**
 * Records which effects are done, in the database that the effects change. The handler enters the effect with the
 * first statement of its own transaction, so the effect and its entry are committed together or not at all,
 * whatever crashes.
 */
export interface EffectLedger<Tx, Answer extends boolean | Promise<boolean>> {
  /**
   * Enters an effect under its key and the name of the handler. `true`: do the effect now. `false`: it was done
   * before. Throws a `UsageError` with the code `key_invalid` if the key is not one of an event: with a key that
   * several orders share, only one of them would be done.
   *
   * @param tx - The transaction in which the effect is done.
   * @param effect - The handler's event.
   */
  once(tx: Tx, effect: Effect): Answer;
}

/** @throws {UsageError} `key_invalid` */
export function checkKeys(keys: readonly string[]): readonly string[] {
  if (Array.isArray(keys) && keys.every((key) => typeof key === 'string' && KEY.test(key))) {
    return keys.map((key) => key.toLowerCase());
  }
  throw new UsageError(
    'key_invalid',
    'A ledger takes a list of keys, each the 64 hexadecimal digits of an event.',
  );
}

const KEY = /^[\da-f]{64}$/i;

/** @throws {UsageError} `key_invalid` */
export function checkEffect(effect: Effect): Effect {
  // Plain JavaScript may pass anything, or nothing.
  const { key, handler }: Partial<Effect> = effect ?? {};
  if (typeof key === 'string' && KEY.test(key) && typeof handler === 'string' && handler !== '') {
    return { key, handler };
  }
  throw new UsageError(
    'key_invalid',
    'A ledger needs the event itself, or its `key` (64 hexadecimal digits) and its `handler` (a name).',
  );
}
