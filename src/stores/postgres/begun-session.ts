import { type Call, toText } from './calls.js';
import { toRows } from './client.js';
import { ignore, type Results, type Session } from './session.js';

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
      const run = (calls: readonly Call[]) => runTexts(tx, calls.map(toText).join('; '));
      const rollBack = async () => {
        end?.rollBack();
        await begun.catch(ignore);
      };
      resolve({
        tx,
        begin: run,
        async commit(calls) {
          try {
            const results = await run(calls);
            end?.commit();
            await begun;
            return results;
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

async function runTexts(tx: unknown, text: string): Promise<Results> {
  // A transaction of postgres.js or of PGlite.
  const client = tx as MultiClient;
  return toResults(await ('unsafe' in client ? client.unsafe(text) : client.exec(text)));
}

function toResults(results: unknown): Results {
  const all = Array.isArray(results) ? results : [results];
  // postgres.js returns the rows of a single statement, and otherwise a list of rows for each.
  const each = all.every((one) => Array.isArray(one) || Array.isArray(one?.rows)) ? all : [all];
  return each.map((one) => toRows(one));
}
