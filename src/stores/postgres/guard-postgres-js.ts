import { soon } from '../../runtime/turn.js';
import { optionOf } from '../size-limits.js';
import { endsTransaction, type Gate } from './gate.js';

/**
 * Guards the client of a transaction of postgres.js, and those of its savepoints.
 *
 * @param isPart - Whether the client is that of a savepoint, which takes back what fails in it.
 */
export function guardPostgresJs<Tx>(tx: Tx, gate: Gate, isPart = false): Tx {
  if (!isFunction(tx)) return tx;
  const held = (query: unknown, isFile = false) => hold(query, gate, isPart, isFile);
  return new Proxy(tx, {
    apply: (target, self, args) => held(Reflect.apply(target, self, args)),
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (!isFunction(value)) return value;
      const call = (args: unknown[]) => Reflect.apply(value, target, args);
      switch (name) {
        case 'unsafe':
          return (...args: unknown[]) => held(call(args));
        case 'file':
          return (...args: unknown[]) => held(call(args), true);
        case 'savepoint':
          return (...args: unknown[]) => {
            const refused = gate.refusal(() => '');
            if (refused) return Promise.reject(refused);
            const part = new Part((resolve, reject) => {
              const runs = args.map((arg) => (isFunction(arg) ? guardRun(arg, gate, reject) : arg));
              const running: Promise<unknown> = call(runs);
              // Noted before the gate counts it as ended, so that the transaction never commits without this part.
              running.then(undefined, (error) => gate.failures.push({ part, error }));
              gate.track(running).then(resolve, reject);
            });
            part.ignore();
            return part;
          };
        case 'prepare':
        case 'begin':
          return () => {
            throw endsTransaction(`${name}()`);
          };
        default:
          return value;
      }
    },
  });
}

/**
 * The result of a savepoint. Notes whether the work reads it: a failure that nothing reads would leave a part out, or
 * end the process as an unhandled rejection.
 */
class Part extends Promise<unknown> {
  isRead = false;

  // biome-ignore lint/suspicious/noThenProperty: It overrides the method of Promise.
  override then<A = unknown, B = never>(
    onDone?: ((result: unknown) => A | PromiseLike<A>) | null,
    onFailed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.isRead = true;
    return super.then(onDone, onFailed);
  }

  /** Its failure ends no process, and does not count as read. */
  ignore(): void {
    super.then(undefined, () => {});
  }
}

/**
 * Guards the client that postgres.js passes to a function. If the transaction is over when the function ends, the driver
 * must not send its ROLLBACK, so its promise never settles.
 *
 * @param cutOff - Of a savepoint: called instead of that.
 */
export function guardRun<Tx>(
  run: (tx: Tx) => unknown,
  gate: Gate,
  cutOff?: (reason: unknown) => void,
): (tx: Tx) => Promise<unknown> {
  return async (tx) => {
    try {
      const result = run(guardPostgresJs(tx, gate, cutOff !== undefined));
      // postgres.js also awaits the statements in an array.
      return await (Array.isArray(result) ? Promise.all(result) : result);
    } catch (error) {
      // Statements fail a moment before `begin` does.
      await new Promise<void>((resolve) => soon(resolve));
      throw error;
    } finally {
      if (gate.isOver) {
        cutOff?.(gate.refusal(() => ''));
        await new Promise(() => {});
      }
    }
  };
}

/**
 * Makes a query ask the gate when it is sent. postgres.js sends a query only when something awaits it, and a query that
 * is a part of another one never.
 *
 * @param isFile - Whether the driver reads a file first, and sends the query after that.
 */
function hold<Query>(query: Query, gate: Gate, isPart: boolean, isFile: boolean): Query {
  if (!isQuery(query)) return query;
  // A Proxy, because the driver keeps a setting on this function.
  query.handler = new Proxy(query.handler, {
    apply(target, self, args) {
      const refused = gate.refusal(() => toText(query));
      if (refused) return query.reject(refused);
      if (!isPart) query.catch((error) => gate.fail(error));
      // A cursor over a file settles only its batches.
      if (isFile && optionOf(query, 'cursorFn') === undefined) gate.track(query);
      return Reflect.apply(target, self, args);
    },
  });
  return query;
}

interface PendingQuery extends Promise<unknown> {
  handler: (query: unknown) => unknown;
  reject(error: Error): void;
}

function isQuery(value: unknown): value is PendingQuery {
  return (
    value instanceof Promise &&
    isFunction(optionOf(value, 'handler')) &&
    isFunction(optionOf(value, 'reject'))
  );
}

/** Returns the text of a query, with those of the queries that are parts of it. */
function toText(query: unknown): string {
  const strings = optionOf(query, 'strings');
  const args = optionOf(query, 'args');
  if (!(query instanceof Promise) || !Array.isArray(strings) || !Array.isArray(args)) return '?';
  const [first = '', ...others] = strings;
  return others.reduce((text, next, at) => `${text}${toText(args[at])}${next}`, first);
}

function isFunction(value: unknown): value is (...args: never[]) => unknown {
  return typeof value === 'function';
}
