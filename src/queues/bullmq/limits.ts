import { quoted, writeLine } from '../../report/log.js';
import type { BullmqQueue } from './bullmq.js';

/**
 * Says in one line on stderr that the connection of a queue can fall silent for ever: `ioredis` waits for an
 * answer as long as the peer keeps the connection open, and so each delivery would be answered 503.
 */
export async function warnWithoutLimits(queue: BullmqQueue): Promise<void> {
  const client = await find(queue.getBackend?.(), 'client');
  const options = find(client, 'options');
  const own = find(client, 'isCluster') === true ? find(options, 'redisOptions') : options;
  // Nothing is known of another driver than ioredis.
  if (find(options, 'retryStrategy') === undefined && find(client, 'isCluster') !== true) return;
  if (Number(find(own, 'socketTimeout')) > 0) return;
  writeLine(
    `the connection of the queue ${quoted(queue.name ?? '')} has no socketTimeout. Where it falls silent, every ` +
      'delivery is answered 503 until this process is started again: new Queue(name, { connection: { ' +
      'socketTimeout: 5000, … } }).',
    'operate.md#no-time-limit',
    'warn',
  );
}

function find(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
