import { UsageError } from '../errors.js';

/** An effect as a ledger enters it: the handler's event has both. */
export interface Effect {
  /** 64 hexadecimal digits. */
  readonly key: string;
  readonly handler: string;
}

/**
 * Effects that have been done, in the database in which they are done: the first statement of a handler's
 * own transaction. Whatever dies and whenever, the effect and its entry are there together, or not at all.
 */
export interface EffectLedger<Tx, Answer extends boolean | Promise<boolean>> {
  /**
   * Whether this effect is still to be done; `false` where it has been done before. Enters it, under the
   * key and the name of the handler. Throws a `UsageError` with the code `key_invalid` where it is not
   * given those of an event: a key that several orders share would have one of them done, and no other.
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
    'A ledger is asked for a list of keys: each is 64 hexadecimal digits, as an event has it.',
  );
}

const KEY = /^[\da-f]{64}$/i;

/** @throws {UsageError} `key_invalid` */
export function checkEffect(effect: Effect): Effect {
  // Plain JavaScript may pass anything, and nothing.
  const { key, handler }: Partial<Effect> = effect ?? {};
  if (typeof key === 'string' && KEY.test(key) && typeof handler === 'string' && handler !== '') {
    return { key, handler };
  }
  throw new UsageError(
    'key_invalid',
    'A ledger needs the event itself, or its `key` (64 hexadecimal digits) and its `handler` (a name).',
  );
}
