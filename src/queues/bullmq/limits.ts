import { quoted, writeLine } from '../../errors/log.js';
import type { BullmqQueue } from './bullmq.js';
import { find } from './find.js';

/**
 * Warns on stderr, in one line, if the connection of a queue has no time limit. `ioredis` waits for a reply as
 * long as the peer keeps the connection open, so a silent connection would have every delivery answered 503.
 */
export async function warnOfQueue(queue: BullmqQueue, connected: Promise<unknown>): Promise<void> {
  const client = await connected;
  const options = find(client, 'options');
  const own = find(client, 'isCluster') === true ? find(options, 'redisOptions') : options;
  // Only the options of ioredis are known.
  if (find(options, 'retryStrategy') === undefined && find(client, 'isCluster') !== true) return;
  if (Number(find(own, 'socketTimeout')) > 0) return;
  writeLine(
    `the connection of the queue ${quoted(queue.name ?? '')} has no socketTimeout. If it falls silent, every ` +
      'delivery is answered 503 until this process restarts. Set one: new Queue(name, { connection: { ' +
      'socketTimeout: 5000, … } }).',
    'operate.md#no-time-limit',
    'warn',
  );
}
