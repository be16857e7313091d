import { UsageError, WebhookError } from '../../errors/errors.js';
import { optionOf } from '../size-limits.js';
import { warnWithoutListener } from '../warn-once.js';
import { isNodeRedis, type RedisClient } from './client.js';

/**
 * Checks that a client can be used, before its first call.
 *
 * @throws {UsageError} `client_invalid`
 */
export function checkClient(client: RedisClient): void {
  // ioredis and Upstash connect by themselves, and need no listener.
  if (!isNodeRedis(client)) return;
  warnWithoutListener(client, 'The client of node-redis', 'client');
  if (optionOf(client, 'isOpen') !== false) return;
  throw new UsageError(
    'client_invalid',
    'The client of node-redis is not connected, or it was closed: await client.connect() first.',
  );
}

/** Throws the error of the first call. An unusable client gives a reply that no script makes. */
export function refuseReply(error: unknown): never {
  if (!(error instanceof WebhookError) || error.code !== 'store_invalid') throw error;
  throw new UsageError(
    'client_invalid',
    'The Redis client does not return the replies of scripts. Pass the client itself: not its pipeline(), multi() ' +
      'or legacy(), not one with legacyMode, and not one that is inside a MULTI.',
    { cause: error },
  );
}

/** The error for a user of the server who may not run a command of the scripts. */
export function commandRefused(command: string): UsageError {
  return new UsageError(
    'client_invalid',
    `The user of the Redis client may not run ${command}, which the scripts of the store call. Give the user the ` +
      'commands that docs/stores.md lists under Redis.',
  );
}
