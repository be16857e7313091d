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

/** Looks through an index of all shards: in one call, or in a cluster in one call each. */
export class Shards {
  readonly #calls: ScriptCalls;
  #isCluster = false;

  constructor(calls: ScriptCalls) {
    this.#calls = calls;
  }

  /** Up to `limit` keys of deliveries that a script gives, shard by shard. */
  async find(script: Script, index: Index, limit: number, after = ''): Promise<string[]> {
    const indexes = SHARDS.filter((shard) => shard >= after.slice(0, 2)).map((shard) =>
      indexOf(shard)(index),
    );
    const find = async (keys: string[]) => {
      const reply = await script.run(this.#calls, keys, [integer(limit), after]);
      return reply === '' ? [] : reply.split(',');
    };
    if (indexes.length === 0) return [];
    if (!this.#isCluster) {
      try {
        return await find(indexes);
      } catch (error) {
        if (!hasCode(error, 'CROSSSLOT')) throw error;
        this.#isCluster = true;
      }
    }
    const found: string[] = [];
    for (let at = 0; at < indexes.length && found.length < limit; at += GROUP) {
      const group = indexes.slice(at, at + GROUP);
      found.push(...(await Promise.all(group.map((one) => find([one])))).flat());
    }
    return found.slice(0, limit);
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
