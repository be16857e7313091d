import { withTimeout } from '../../runtime/timing.js';
import { optionOf } from '../size-limits.js';
import type { IoRedisClient, IoRedisConnection, NodeRedisClient, ScriptCalls } from './client.js';
import { Lanes } from './lane.js';
import { slotOf, tagOf } from './slot.js';

/** How long a connection may take to answer a PING. */
const PING_MS = 1_000;
/** After this long without a reply, calls on a connection of node-redis are held back. */
const HOLD_MS = 1_000;
/**
 * After this long, calls are no longer held back: the client's own limit has ended the connection, or is missing.
 */
const HELD_MS = 15_000;

/**
 * Makes ioredis replace a silent connection; ioredis then sends the waiting calls again. On a cluster, replaces
 * the connections of the nodes that do not answer.
 */
export function endingSilence(client: IoRedisClient, calls: ScriptCalls): ScriptCalls {
  let isEnding = false;
  const mayBeEnded = (connection: IoRedisConnection) =>
    isOpen(connection) && (client.nodes !== undefined || comesBack(connection));
  const end = async () => {
    if (isEnding) return;
    isEnding = true;
    // A single connection is known to be silent.
    const silent = client.nodes ? await unanswering(client.nodes()) : [client];
    for (const connection of silent) if (mayBeEnded(connection)) connection.disconnect(true);
    isEnding = false;
  };
  // Each node of a cluster keeps some of the tags, and may be silent while the others answer.
  const lanes = new Lanes(
    ([key = '']) => (client.nodes ? tagOf(key) : ''),
    () => void end(),
  );
  return {
    eval: (script, keys, args) => lanes.of(keys).run(() => calls.eval(script, keys, args)),
    evalSha: (sha, keys, args) => lanes.of(keys).run(() => calls.evalSha(sha, keys, args)),
  };
}

/** Returns whether a connection is open, as far as the client knows. Opening has its own time limit. */
export function isOpen({ status }: Pick<IoRedisConnection, 'status'>): boolean {
  return status === 'ready' || status === 'connect';
}

/**
 * Returns whether a connection reconnects. Otherwise, ending it closes it for good. A cluster replaces its nodes.
 */
export function comesBack(connection: object): boolean {
  return typeof optionOf(connection, 'options', 'retryStrategy') === 'function';
}

async function unanswering(nodes: readonly IoRedisConnection[]): Promise<IoRedisConnection[]> {
  const open = nodes.filter(isOpen);
  const answers = await Promise.allSettled(
    open.map((node) => withTimeout(node.ping(), 'Redis', PING_MS)),
  );
  return open.filter((_, at) => answers[at]?.status === 'rejected');
}

/**
 * Holds back calls on a connection of node-redis that has been silent for a while. Its `socketTimeout` counts from
 * the last read or *write*, so occasional calls would delay it forever. On a cluster, holds back only the calls to
 * the silent node.
 */
export function holdingBack(client: NodeRedisClient, calls: ScriptCalls): ScriptCalls {
  const lanes = new Lanes(([key = '']) => {
    const node = optionOf(client, 'slots', `${slotOf(key)}`, 'master', 'address');
    return typeof node === 'string' ? node : '';
  });
  const held = async <Reply>(keys: string[], call: () => Promise<Reply>) => {
    const lane = lanes.of(keys);
    while (lane.silentMs > HOLD_MS && lane.silentMs < HELD_MS)
      await withTimeout(lane.reply(), 'Redis');
    return lane.run(call);
  };
  return {
    eval: (script, keys, args) => held(keys, () => calls.eval(script, keys, args)),
    evalSha: (sha, keys, args) => held(keys, () => calls.evalSha(sha, keys, args)),
  };
}
