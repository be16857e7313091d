import { WebhookError } from '../../errors/errors.js';
import { SILENCE_MS } from '../guard.js';
import { hasMethods } from '../platform.js';
import { GAP_MS } from '../store.js';
import { openBegun } from './begun-session.js';
import { openPool } from './pool-session.js';
import { type PostgresJs, throughPostgresJs } from './postgres-js.js';
import { PreparedCalls } from './prepared-calls.js';
import type { Open, Session } from './session.js';
import type { Pglite, TransactionSource } from './transaction.js';

export interface Sessions<Tx> {
  /** Whether the client runs statements beside an open session. */
  readonly hasOthers: boolean;
  /** Keeps a connection for the transaction of a delivery, for {@link GAP_MS}. Returns false if none is free. */
  keep(key: string): boolean;
  /** Returns whether no connection was free for a delivery when it was claimed, and forgets that. */
  hadToWait(key: string): boolean;
  open(key: string): Promise<Session<Tx>>;
}

/**
 * Returns the sessions of a client that begins transactions; `undefined` for any other client.
 *
 * @param prepares - Whether connections of a pool keep the statements prepared.
 */
export function toSessions<Tx>(
  client: unknown,
  connections: number,
  prepares: boolean,
): Sessions<Tx> | undefined {
  const open = toOpen<Tx>(client, prepares);
  // A session of another driver has begun its transaction when it is open.
  const hasOthers = connections > 1 && Number.isFinite(connections);
  return open && new LimitedSessions(open, Math.max(1, connections - 1), hasOthers);
}

function toOpen<Tx>(client: unknown, prepares: boolean): Open<Tx> | undefined {
  const source = client as TransactionSource<Tx>;
  if (hasMethods(source, 'connect') && 'totalCount' in source) {
    const prepared = new PreparedCalls(prepares);
    return () => openPool(source, prepared);
  }
  if (hasMethods(source, 'begin'))
    return () => openBegun((run) => throughPostgresJs(source as PostgresJs<Tx>, run));
  if (hasMethods(source, 'transaction') && 'waitReady' in source) {
    return () => openBegun((run) => (source as Pglite<Tx>).transaction(run));
  }
  return undefined;
}

/** The longest wait for a connection: for one of the pool's to be free, and then to be opened. */
export const WAIT_MS = 2 * SILENCE_MS;

/**
 * Leaves one connection of a pool to everything else: to claims, and to handlers that use the pool beside their
 * transaction.
 */
class LimitedSessions<Tx> implements Sessions<Tx> {
  readonly #open: Open<Tx>;
  readonly hasOthers: boolean;
  readonly #waiting: (() => void)[] = [];
  #free: number;
  /** The deliveries for which a connection is kept, and until when. Oldest first. */
  readonly #kept = new Map<string, number>();
  /** The deliveries for which no connection was free, and until when they wait. Oldest first. */
  readonly #late = new Map<string, number>();

  constructor(open: Open<Tx>, most: number, hasOthers: boolean) {
    this.#open = open;
    this.#free = most;
    this.hasOthers = hasOthers;
  }

  keep(key: string): boolean {
    const now = performance.now();
    for (const keys of [this.#kept, this.#late]) forgetOld(keys, now);
    const isFree = this.#kept.size < this.#free;
    if (isFree) this.#kept.set(key, now + GAP_MS);
    else this.#late.set(key, now + WAIT_MS);
    return isFree;
  }

  hadToWait(key: string): boolean {
    return this.#late.delete(key);
  }

  async open(key: string): Promise<Session<Tx>> {
    this.#kept.delete(key);
    await this.#turn();
    let isFree = false;
    const free = () => {
      if (isFree) return;
      isFree = true;
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    };
    try {
      const session = await this.#open();
      return {
        tx: session.tx,
        begin: (calls) => session.begin(calls),
        commit: (calls) => session.commit(calls).finally(free),
        rollBack: () => session.rollBack().finally(free),
        destroy: () => {
          session.destroy();
          free();
        },
      };
    } catch (error) {
      free();
      throw error;
    }
  }

  async #turn(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
    } else {
      await new Promise<void>((resolve, reject) => {
        const late = setTimeout(() => {
          this.#waiting.splice(this.#waiting.indexOf(turn), 1);
          reject(
            new WebhookError(
              'timed_out',
              `No connection was free for a transaction within ${SILENCE_MS} ms.`,
            ),
          );
        }, SILENCE_MS);
        const turn = () => {
          clearTimeout(late);
          resolve();
        };
        this.#waiting.push(turn);
      });
    }
  }
}

function forgetOld(keys: Map<string, number>, now: number): void {
  for (const [key, until] of keys) {
    if (until > now) break;
    keys.delete(key);
  }
}
