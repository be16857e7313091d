import { toText } from './calls.js';
import { toRows } from './client.js';
import { COMMIT } from './gate.js';
import { hasCommitted } from './postgres-js.js';
import { ignore, type Results, type Session } from './session.js';
import { runsTexts } from './stay-awake.js';
import { rolledBack } from './transaction.js';

/** A session of a driver that begins and ends transactions by itself. */
export function openBegun<Tx>(
  begin: (run: (tx: Tx) => Promise<void>) => Promise<unknown>,
): Promise<Session<Tx>> {
  return new Promise((resolve, reject) => {
    let end: { commit: () => void; rollBack: () => void } | undefined;
    const begun = begin((tx) => {
      const ending = new Promise<void>((commit, rollBack) => {
        end = { commit, rollBack: () => rollBack(new Error('ROLLBACK')) };
      });
      const rollBack = async () => {
        end?.rollBack();
        await begun.catch(ignore);
      };
      resolve({
        tx,
        begin: async (calls) => toResults(await runTexts(tx, calls.map(toText))),
        async commit(calls) {
          try {
            await runLast(tx, calls.map(toText));
            end?.commit();
            await begun;
          } catch (error) {
            end?.rollBack();
            throw error;
          }
        },
        rollBack,
        destroy: () => void rollBack(),
      });
      return ending;
    });
    begun.catch(reject);
  });
}

type MultiClient =
  | { unsafe(text: string): PromiseLike<unknown> }
  | { exec(text: string): PromiseLike<unknown> };

async function runTexts(tx: unknown, texts: readonly string[]): Promise<unknown> {
  // A transaction of postgres.js or of PGlite.
  const client = tx as MultiClient;
  const text = texts.join('; ');
  return 'unsafe' in client ? client.unsafe(text) : client.exec(text);
}

/** Runs the last statements of a transaction. PGlite commits it by itself. */
async function runLast(tx: unknown, texts: readonly string[]): Promise<void> {
  if (!runsTexts(tx)) await runTexts(tx, texts);
  else if (!hasCommitted(await runTexts(tx, [...texts, COMMIT]))) throw rolledBack();
}

function toResults(results: unknown): Results {
  const all = Array.isArray(results) ? results : [results];
  // postgres.js returns the rows of a single statement, and otherwise a list of rows for each.
  const each = all.every((one) => Array.isArray(one) || Array.isArray(one?.rows)) ? all : [all];
  return each.map((one) => toRows(one));
}
