import { UsageError } from '../../errors/errors.js';
import { atEndOfTurn } from '../../runtime/turn.js';
import { hasMethods } from '../platform.js';
import { optionOf } from '../size-limits.js';
import { awaitAll } from '../transactions.js';
import { endsTransaction, type Gate, WorkGate } from './gate.js';
import { guardPostgresJs } from './guard-postgres-js.js';

/** Runs work in a transaction, with a client that is for the work alone. */
export interface Guard<Tx> {
  /**
   * Runs the work. Once it has ended, its client lets nothing through: a statement between the last check and COMMIT
   * could fail, and PostgreSQL would answer COMMIT with a ROLLBACK, which drivers treat as a success.
   */
  run(work: (tx: Tx) => unknown): Promise<void>;
  /** Ends the client while the work may still be running. */
  end(): void;
}

/**
 * Guards the client of a transaction, of any supported driver. The work's client refuses statements which end the
 * transaction, and every statement after the work: on a client that went back to its pool, they would run in another
 * transaction.
 */
export function guardClient<Tx>(tx: Tx): Guard<Tx> {
  const gate = new WorkGate();
  const end = () => {
    gate.isOver = true;
  };
  return {
    end,
    async run(work) {
      try {
        await awaitAll(work(guarded(tx, gate)));
      } finally {
        end();
      }
      if (gate.isBusy) throw unfinished();
      const unread = gate.failures.find(({ part }) => !part.isRead);
      if (unread) throw unread.error;
    },
  };
}

function guarded<Tx>(tx: Tx, gate: Gate): Tx {
  if (typeof tx === 'function') return guardPostgresJs(tx, gate);
  if (typeof tx !== 'object' || tx === null) return tx;
  const isPg = hasMethods(tx, 'query', 'on');
  return isPg || hasMethods(tx, 'query', 'exec', 'rollback') ? guardMethods(tx, gate) : tx;
}

/** Guards a client of `pg`, or a transaction of PGlite. */
function guardMethods<Tx extends object>(tx: Tx, gate: Gate): Tx {
  return new Proxy(tx, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      switch (name) {
        case 'query':
        case 'exec':
        case 'sql':
        case 'listen':
          return (...args: unknown[]) => {
            const refused = gate.refusal(() => toText(args[0]));
            if (!refused) return Reflect.apply(value, target, args);
            return name === 'query' ? failQuery(args, refused) : Promise.reject(refused);
          };
        case 'rollback':
          return () => Promise.reject(endsTransaction('rollback()'));
        case 'release':
        case 'end':
          return () => {
            throw givenBack(name);
          };
        default:
          return value.bind(target);
      }
    },
  });
}

/**
 * Fails a query as `pg` does: in its callback, in a query object such as a cursor, or else with a promise. A promise that
 * the caller does not expect would end the process, and the callback would never be called.
 */
function failQuery([query, ...rest]: readonly unknown[], error: Error): unknown {
  const callback = [optionOf(query, 'callback'), ...rest].find(isFunction);
  if (isQueryObject(query)) {
    query.callback ??= callback;
    atEndOfTurn(() => query.handleError(error));
    return query;
  }
  if (!callback) return Promise.reject(error);
  atEndOfTurn(() => callback(error));
  return undefined;
}

/** A query of `pg` that takes its answers itself, such as a cursor. */
interface QueryObject {
  callback?: unknown;
  handleError(error: Error): void;
}

function isQueryObject(value: unknown): value is QueryObject {
  return hasMethods(value, 'submit', 'handleError');
}

function isFunction(value: unknown): value is (error: Error) => unknown {
  return typeof value === 'function';
}

/** Returns the text of a query, of its configuration, or of a template. */
function toText(query: unknown): string {
  const text = optionOf(query, 'text') ?? query;
  return Array.isArray(text) ? text.join('?') : `${text}`;
}

function givenBack(name: string): UsageError {
  return new UsageError(
    'transaction_missing',
    `The work in a transaction must not call ${name}(): its connection would go to other work with the ` +
      'transaction still open. Leave the call out. The connection goes back to its pool when the handler, or the ' +
      'work of ledger.transaction, has ended.',
  );
}

function unfinished(): UsageError {
  return new UsageError(
    'transaction_missing',
    'The work has ended before its savepoint or its file of statements, so everything is rolled back. Await each ' +
      'savepoint() and file().',
  );
}
