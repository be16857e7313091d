import type { ScriptCalls } from './client.js';
import { integer } from './layout.js';
import { hasCode, type Script } from './script.js';

export type Index = 'open' | 'dead';

/** The first two digits of the keys: what shares them shares a slot of a cluster. */
const SHARDS = Array.from({ length: 256 }, (_, shard) => shard.toString(16).padStart(2, '0'));
/** How many calls are under way at once, where there are many. */
const GROUP = 32;

/** The Redis keys of a delivery: its own, and its indexes. */
export function deliveryKeys(key: string): string[] {
  const shard = key.slice(0, 2);
  return [`wh:{${shard}}:${key}`, ...(['open', 'dead'] as const).map(indexOf(shard))];
}

function indexOf(shard: string): (index: Index) => string {
  return (index) => `wh:{${shard}}:${index}`;
}

/** What is in an index. */
export interface Found {
  /** Of deliveries. */
  readonly keys: readonly string[];
  /** The Redis keys of indexes that hold something else, which another hand has written. */
  readonly foreign: readonly string[];
}

/** Looks through an index of all shards: in one call, or in a cluster in one call each. */
export class Shards {
  readonly #calls: ScriptCalls;
  #isCluster = false;

  constructor(calls: ScriptCalls) {
    this.#calls = calls;
  }

  /** Up to `limit` keys of deliveries that a script gives, shard by shard. */
  async find(script: Script, index: Index, limit: number, after = ''): Promise<Found> {
    const indexes = SHARDS.filter((shard) => shard >= after.slice(0, 2)).map((shard) =>
      indexOf(shard)(index),
    );
    const keys: string[] = [];
    const foreign: string[] = [];
    await this.#ask(script, indexes, [integer(limit), after], (reply) => {
      const [found = '', others = ''] = reply.split(';');
      if (found !== '') keys.push(...found.split(','));
      if (others !== '') foreign.push(...others.split(','));
      return keys.length < limit;
    });
    return { keys: keys.slice(0, limit), foreign };
  }

  /** What a script counts in all shards. */
  async count(script: Script, index: Index, ...args: string[]): Promise<number> {
    let count = 0;
    await this.#ask(
      script,
      SHARDS.map((shard) => indexOf(shard)(index)),
      args,
      (reply) => {
        count += Number(reply);
        return true;
      },
    );
    return count;
  }

  /** Asks shard by shard, or all at once, until a reply is enough. */
  async #ask(
    script: Script,
    indexes: string[],
    args: string[],
    wantsMore: (reply: string) => boolean,
  ): Promise<void> {
    if (indexes.length === 0) return;
    if (!this.#isCluster) {
      try {
        wantsMore(await script.run(this.#calls, indexes, args));
        return;
      } catch (error) {
        if (!hasCode(error, 'CROSSSLOT')) throw error;
        this.#isCluster = true;
      }
    }
    for (let at = 0; at < indexes.length; at += GROUP) {
      const group = indexes.slice(at, at + GROUP);
      const replies = await Promise.all(group.map((one) => script.run(this.#calls, [one], args)));
      if (replies.map(wantsMore).includes(false)) return;
    }
  }
}

/** Does something with each, some at a time. */
export async function inGroups<Item, Result>(
  items: readonly Item[],
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += GROUP) {
    results.push(...(await Promise.all(items.slice(at, at + GROUP).map(run))));
  }
  return results;
}
