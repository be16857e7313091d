import { withTimeout } from '../../timing.js';
import { optionOf } from '../limits.js';
import type { IoRedisClient, IoRedisConnection, NodeRedisClient, ScriptCalls } from './client.js';
import { Lanes } from './lane.js';
import { slotOf, tagOf } from './slot.js';

/** How long a connection that is asked whether it still answers has for it. */
const PING_MS = 1_000;
/** How long nothing may come back before no more is written to a connection of node-redis. */
const HOLD_MS = 1_000;
/** By then its own limit has ended the connection, or it has none. */
const HELD_MS = 15_000;

/**
 * Has ioredis open another connection where nothing comes back on the one that it has, by which it asks
 * again what waits. Of a cluster, those of the nodes that do not answer.
 */
export function endingSilence(client: IoRedisClient, calls: ScriptCalls): ScriptCalls {
  let isEnding = false;
  const mayBeEnded = (connection: IoRedisConnection) =>
    isOpen(connection) && (client.nodes !== undefined || comesBack(connection));
  const end = async () => {
    if (isEnding) return;
    isEnding = true;
    // Of a single connection, it is known already.
    const silent = client.nodes ? await unanswering(client.nodes()) : [client];
    for (const connection of silent) if (mayBeEnded(connection)) connection.disconnect(true);
    isEnding = false;
  };
  // The nodes of a cluster keep some tags each: one may be silent while the others answer.
  const lanes = new Lanes(
    ([key = '']) => (client.nodes ? tagOf(key) : ''),
    () => void end(),
  );
  return {
    eval: (script, keys, args) => lanes.of(keys).run(() => calls.eval(script, keys, args)),
    evalSha: (sha, keys, args) => lanes.of(keys).run(() => calls.evalSha(sha, keys, args)),
  };
}

/** Connected, as far as the client knows. One that is being opened has a limit of its own. */
function isOpen({ status }: IoRedisConnection): boolean {
  return status === 'ready' || status === 'connect';
}

/** Whether it connects again: else it would be closed for good. A cluster replaces its nodes by itself. */
function comesBack(connection: IoRedisConnection): boolean {
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
 * Writes nothing more to a connection of node-redis that has been silent for a while: its `socketTimeout`
 * counts from what was read or *written* last, so that calls which come now and then would put it off
 * for ever. Of a cluster, to the node that is silent.
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
