import { UsageError } from '../../errors/errors.js';
import { tooOld } from '../../errors/too-old.js';
import { hasMethods } from '../platform.js';
import { optionOf } from '../size-limits.js';
import {
  isCluster,
  isIoRedis,
  isNodeRedis,
  isPool,
  isUpstash,
  type RedisClient,
  type ScriptCalls,
} from './client.js';
import { endedByReplica, leavingReplica } from './demoted.js';
import { endingSilence, holdingBack } from './silence.js';

/** @throws {UsageError} `client_invalid`, or `version_unsupported` before node-redis 4. */
export function scriptCallsOf(client: RedisClient): ScriptCalls {
  if (hasMethods(client, 'eval')) {
    if (isNodeRedis(client)) {
      const calls: ScriptCalls = {
        eval: (script, keys, args) => client.eval(script, { keys, arguments: args }),
        evalSha: (sha, keys, args) => client.evalSha(sha, { keys, arguments: args }),
      };
      // A pool makes no second call on a connection that has not answered the first.
      return endedByReplica(client, isPool(client) ? calls : holdingBack(client, calls));
    }
    if (isIoRedis(client)) {
      if (isCluster(client)) sendAlone(client);
      const calls = endingSilence(client, {
        eval: (script, keys, args) => client.eval(script, keys.length, ...keys, ...args),
        evalSha: (sha, keys, args) => client.evalsha(sha, keys.length, ...keys, ...args),
      });
      return leavingReplica(client, calls);
    }
    if (isUpstash(client)) {
      return {
        // Async, because a pipeline of Upstash returns itself and no promise.
        eval: (script, keys, args) => bare(async () => client.eval(script, keys, args)),
        evalSha: (sha, keys, args) => bare(async () => client.evalsha(sha, keys, args)),
      };
    }
  }
  // node-redis 3, whose methods take callbacks.
  if (hasMethods(client, 'send_command', 'evalsha') && !hasMethods(client, 'defineCommand')) {
    throw tooOld('redisStore()', 'node-redis 4', 'node-redis 3 or earlier', 'redis@latest');
  }
  throw new UsageError(
    'client_invalid',
    'redisStore() needs a client of ioredis (new Redis(url)), of node-redis (await ' +
      'createClient({ url }).connect()), or of @upstash/redis (Redis.fromEnv()).',
  );
}

/**
 * Excludes scripts from the automatic pipelines of a cluster. ioredis rejects such a pipeline as a whole if one of its
 * commands has keys of several slots, as the first read of all shards has, and ioredis 4 takes the slot of a
 * script from its hash.
 */
function sendAlone(client: RedisClient): void {
  const ignored = optionOf(client, 'options', 'autoPipeliningIgnoredCommands');
  if (!Array.isArray(ignored)) return;
  // A new list, because ioredis shares the one of its defaults among its clients.
  Object.assign(Object(optionOf(client, 'options')), {
    autoPipeliningIgnoredCommands: [...new Set([...ignored, 'eval', 'evalsha'])],
  });
}

/**
 * Makes a call, and throws an error of Upstash as Redis states it, with its code first. Upstash puts the number of the
 * call in a pipeline before it, and the whole command behind it, with the signature and the payload.
 */
async function bare(call: () => Promise<unknown>): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const message = error.message
      .replace(/^Command .*?failed: /, '')
      .replace(/, command was: .*/s, '');
    throw message === error.message ? error : new Error(message);
  }
}
