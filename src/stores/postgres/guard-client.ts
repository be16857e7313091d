import { UsageError } from '../../errors/errors.js';
import { hasMethods } from '../platform.js';

const ENDS =
  /^\s*(?:begin|start\s+transaction|commit|end|abort|rollback(?!\s+(?:work\s+|transaction\s+)?to\b)|prepare\s+transaction)\b/i;

/**
 * Returns a client for the work in a transaction that refuses statements which end the transaction, and every statement after the
 * transaction is over: on a client that went back to its pool, they would run in another one.
 */
export function guardClient<Tx>(tx: Tx): { readonly client: Tx; end(): void } {
  if (!hasMethods(tx, 'on') || !hasMethods(tx, 'query')) return { client: tx, end: ignore };
  let isOver = false;
  const client = new Proxy(tx as object, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (name !== 'query' || typeof value !== 'function') {
        return typeof value === 'function' ? value.bind(target) : value;
      }
      return (...args: unknown[]) => {
        if (isOver) return Promise.reject(over());
        const [query] = args;
        const text =
          typeof query === 'object' && query !== null ? Reflect.get(query, 'text') : query;
        if (typeof text === 'string' && ENDS.test(text)) return Promise.reject(ends(text));
        return Reflect.apply(value, target, args);
      };
    },
  });
  return {
    client: client as Tx,
    end() {
      isOver = true;
    },
  };
}

function over(): UsageError {
  return new UsageError(
    'transaction_missing',
    'The transaction is over, because its work has ended or took too long. Await each statement.',
  );
}

function ends(text: string): UsageError {
  return new UsageError(
    'transaction_missing',
    `The transaction ends with its work, which cannot run ${text.trim().split(/\s/, 1)[0]?.toUpperCase()}. ` +
      'Throw an error to roll everything back, and use SAVEPOINT for a part of it.',
  );
}

function ignore(): void {}
