import { COUNT_LIMIT } from '../store.js';
import type { ScriptCalls } from './client.js';
import { integer } from './layout.js';
import { hasCode, type Script } from './script.js';

export type Index = 'open' | 'dead';

/** The first two digits of the keys. Keys that share them are in the same slot of a cluster. */
const SHARDS = Array.from({ length: 256 }, (_, shard) => shard.toString(16).padStart(2, '0'));
/** The most calls to make at once. */
const GROUP = 32;

/** Returns the Redis keys of a delivery and of its indexes. */
export function deliveryKeys(key: string): string[] {
  const shard = key.slice(0, 2);
  return [`wh:{${shard}}:${key}`, ...(['open', 'dead'] as const).map(indexOf(shard))];
}

function indexOf(shard: string): (index: Index) => string {
  return (index) => `wh:{${shard}}:${index}`;
}

/** The contents of an index. */
export interface Found {
  /** The keys of deliveries. */
  readonly keys: readonly string[];
  /** The Redis keys of indexes into which something else has written. */
  readonly foreign: readonly string[];
}

/** Reads an index of all shards: in one call, or on a cluster in one call per shard. Only long counts need more. */
export class Shards {
  readonly #calls: ScriptCalls;
  #isCluster = false;

  constructor(calls: ScriptCalls) {
    this.#calls = calls;
  }

  /** Returns up to `limit` keys of deliveries that a script finds, shard by shard. */
  async find(script: Script, index: Index, limit: number, after = ''): Promise<Found> {
    const indexes = SHARDS.filter((shard) => shard >= after.slice(0, 2)).map((shard) =>
      indexOf(shard)(index),
    );
    const keys: string[] = [];
    const foreign: string[] = [];
    const ask = (some: string[]) => script.run(this.#calls, some, [integer(limit), after]);
    await this.#ask(ask, indexes, (reply) => {
      const [found = '', others = ''] = reply.split(';');
      if (found !== '') keys.push(...found.split(','));
      if (others !== '') foreign.push(...others.split(','));
      return keys.length < limit;
    });
    return { keys: keys.slice(0, limit), foreign };
  }

  /** Returns what a script counts in all shards, or if that is more than {@link COUNT_LIMIT}, that much or more. */
  async count(script: Script, index: Index, ...args: string[]): Promise<number> {
    let count = 0;
    await this.#ask(
      (indexes) => this.#countIn(script, indexes, args),
      SHARDS.map((shard) => indexOf(shard)(index)),
      (one) => {
        count += one;
        return count < COUNT_LIMIT;
      },
    );
    return count;
  }

  /** Runs a script as often as it takes to read all of the indexes, each time from where the last call has stopped. */
  async #countIn(script: Script, indexes: string[], args: string[]): Promise<number> {
    let count = 0;
    let left = indexes;
    let skip = '0';
    while (left.length > 0 && count < COUNT_LIMIT) {
      const reply = await script.run(this.#calls, left, [...args, skip]);
      const [found, read = left.length, entries = '0'] = reply.split(',');
      count += Number(found);
      left = left.slice(Number(read));
      skip = entries;
    }
    return count;
  }

  /** Asks all shards at once, or in groups on a cluster, until no more replies are wanted. */
  async #ask<Reply>(
    ask: (indexes: string[]) => Promise<Reply>,
    indexes: string[],
    wantsMore: (reply: Reply) => boolean,
  ): Promise<void> {
    if (indexes.length === 0) return;
    if (!this.#isCluster) {
      try {
        wantsMore(await ask(indexes));
        return;
      } catch (error) {
        if (!hasCode(error, 'CROSSSLOT')) throw error;
        this.#isCluster = true;
      }
    }
    for (let at = 0; at < indexes.length; at += GROUP) {
      const group = indexes.slice(at, at + GROUP);
      const replies = await Promise.all(group.map((one) => ask([one])));
      if (replies.map(wantsMore).includes(false)) return;
    }
  }
}

/** Runs a function for each item, {@link GROUP} at a time. */
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
