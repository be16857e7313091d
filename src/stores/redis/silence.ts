import { inTime } from '../../in-time.js';
import type { IoRedisClient, IoRedisConnection, ScriptCalls } from './client.js';
import { Lane } from './lane.js';

/** How long a connection that is asked whether it still answers has for it. */
const PING_MS = 1_000;
/** How long nothing may come back before no more is written to a connection of node-redis. */
const HOLD_MS = 3_000;
/** By then its own limit has ended the connection, or it has none. */
const HELD_MS = 15_000;

/**
 * Has ioredis open another connection where nothing comes back on the one that it has, by which it asks
 * again what waits. Of a cluster, those of the nodes that do not answer.
 */
export function endingSilence(client: IoRedisClient, calls: ScriptCalls): ScriptCalls {
  let isEnding = false;
  const end = async () => {
    if (isEnding) return;
    isEnding = true;
    // Of a single connection, it is known already.
    const silent = client.nodes ? await unanswering(client.nodes()) : [client];
    for (const connection of silent) if (isOpen(connection)) connection.disconnect(true);
    isEnding = false;
  };
  const lanes = new Map<string, Lane>();
  // The nodes of a cluster keep some shards each: one may be silent while the others answer.
  const laneOf = ([key = '']: string[]) => {
    const name = client.nodes ? key.slice(0, key.indexOf('}')) : '';
    const lane = lanes.get(name) ?? new Lane(() => void end());
    lanes.set(name, lane);
    return lane;
  };
  return {
    eval: (script, keys, args) => laneOf(keys).run(() => calls.eval(script, keys, args)),
    evalSha: (sha, keys, args) => laneOf(keys).run(() => calls.evalSha(sha, keys, args)),
  };
}

/** Connected, as far as the client knows. One that is being opened has a limit of its own. */
function isOpen({ status }: IoRedisConnection): boolean {
  return status === 'ready' || status === 'connect';
}

async function unanswering(nodes: readonly IoRedisConnection[]): Promise<IoRedisConnection[]> {
  const open = nodes.filter(isOpen);
  const answers = await Promise.allSettled(
    open.map((node) => inTime(node.ping(), 'Redis', PING_MS)),
  );
  return open.filter((_, at) => answers[at]?.status === 'rejected');
}

/**
 * Writes nothing more to a connection of node-redis that has been silent for a while: its `socketTimeout`
 * counts from what was read or *written* last, so that calls which come now and then would put it off
 * for ever.
 */
export function holdingBack(calls: ScriptCalls): ScriptCalls {
  const lane = new Lane();
  const held = async <Reply>(call: () => Promise<Reply>) => {
    while (lane.silentMs > HOLD_MS && lane.silentMs < HELD_MS) await inTime(lane.reply(), 'Redis');
    return lane.run(call);
  };
  return {
    eval: (script, keys, args) => held(() => calls.eval(script, keys, args)),
    evalSha: (sha, keys, args) => held(() => calls.evalSha(sha, keys, args)),
  };
}
