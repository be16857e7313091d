import { Batch } from '../batch.js';
import type { ScriptCalls } from './client.js';
import { WIDTH } from './layout.js';
import { hasCode, type Script } from './script.js';
import { deliveryKeys } from './shards.js';

/** A call for one delivery, with at most {@link WIDTH} arguments. */
interface Call {
  readonly key: string;
  readonly args: readonly string[];
}

/** Redis does nothing else while a script runs. A script with this many calls takes a millisecond or two. */
const LIMITS = { maxRunning: 4, maxItems: 64, maxSize: 1024 * 1024 };

/**
 * Combines the calls of one turn of the event loop, and of several turns under load, into one script over several
 * deliveries. On a cluster, each node keeps only some of the deliveries, so every call runs alone.
 */
export class Together {
  readonly #calls: ScriptCalls;
  readonly #batch: Batch<Call, string>;
  readonly #script: Script;
  #isCluster = false;

  constructor(calls: ScriptCalls, script: Script) {
    this.#calls = calls;
    this.#script = script;
    this.#batch = new Batch((together) => this.#run(together), {
      ...LIMITS,
      sizeOf: ({ args }) => args.reduce((size, { length }) => size + length, 0),
      isFaultOfOne: (error) => {
        if (hasCode(error, 'CROSSSLOT')) this.#isCluster = true;
        // If memory is full, calls that write nothing new can still succeed alone.
        return this.#isCluster || hasCode(error, 'OOM');
      },
    });
  }

  async run(key: string, ...args: string[]): Promise<string> {
    if (!this.#isCluster) return this.#batch.add({ key, args });
    const [reply = ''] = await this.#run([{ key, args }]);
    return reply;
  }

  async #run(together: readonly Call[]): Promise<string[]> {
    const keys = together.flatMap(({ key }) => deliveryKeys(key));
    const args = together.flatMap((call) =>
      Array.from({ length: WIDTH }, (_, at) => call.args[at] ?? ''),
    );
    return (await this.#script.run(this.#calls, keys, args)).split('\n');
  }
}
