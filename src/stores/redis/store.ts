import { toBase64 } from '../../runtime/base64.js';
import type { Json } from '../../schemas/values.js';
import { type ReadFilter, type StoreVerbs, withContract } from '../contract.js';
import { checkLayout } from '../layout-version.js';
import { adviceOf, warnOfLimits } from '../size-limits.js';
import {
  type Claim,
  type Claimable,
  COUNT_LIMIT,
  type CountFilter,
  type FailTerms,
  type IdempotencyStore,
  type LeaseTerms,
  type StoredDelivery,
} from '../store.js';
import { IS_DONE, PURGE, REDRIVE } from './care-scripts.js';
import type { RedisClient, ScriptCalls } from './client.js';
import { COUNT, COUNT_READ, OLD_DEAD, OLD_OPEN, RECORD_LAYOUT } from './index-scripts.js';
import { integer, LAYOUT_KEY } from './layout.js';
import { limitsOf } from './limits.js';
import { list } from './list.js';
import { checkClient, commandRefused, refuseReply } from './preconditions.js';
import type { Script } from './script.js';
import { scriptCallsOf } from './script-calls.js';
import { CLAIM, FENCED, NO_BODY } from './scripts.js';
import { deliveryKeys, type Index, inGroups, Shards } from './shards.js';
import { Together } from './together.js';
import { warnOfServer } from './warnings.js';

/**
 * Remembers deliveries in Redis or Valkey through your own client, for several processes and machines. Needs Redis
 * 5 or newer, or Valkey, as a single server or a cluster. Needs no setup.
 *
 * The server must not evict keys (`maxmemory-policy noeviction`) and should write to its disk (`appendonly yes`).
 * If its settings differ, a line on stderr warns of it. If the server's memory is full, it accepts no new
 * deliveries, but those already claimed can finish. **Replication is asynchronous**: after a failover, the server
 * may have forgotten the latest claims and completions, and then a delivery is handled twice. For goods worth
 * money, also use an effect ledger in the database of the effect.
 *
 * With ioredis, the store replaces a connection that stays open but is silent, after 5 s. node-redis needs
 * `socket.socketTimeout` for that, with a `pingInterval` and a `reconnectStrategy`. If the client has no limits, a
 * line on stderr says which to set.
 *
 * While the server is down, a client holds calls back, and the receiver waits 10 seconds for them. To answer at
 * once, pass ioredis `maxRetriesPerRequest: 1`, or node-redis `disableOfflineQueue: true`. Without a listener for
 * its `error` event, a client of node-redis ends the process when the connection is lost.
 *
 * @param client - A connected client of ioredis, node-redis or `@upstash/redis`. The store never closes it.
 * @throws {UsageError} `client_invalid` if the client is of another kind.
 * @example
 * import { Redis } from 'ioredis';
 *
 * const client = new Redis('redis://127.0.0.1:6379', {
 *   maxRetriesPerRequest: 1,
 *   connectTimeout: 5000,
 *   socketTimeout: 5000,
 *   retryStrategy: (times) => Math.min(times * 100, 1000),
 * });
 * createReceiver({ secret, store: redisStore(client) });
 */
export function redisStore(client: RedisClient): IdempotencyStore {
  const limits = limitsOf(client);
  const store = new RedisStore(client, adviceOf(limits));
  warnOfLimits('Redis', limits);
  return withContract(store);
}

type ClaimReply =
  | { state: 'acquired'; fence: number; attempt: number; steps: [string, Json][] }
  | { state: 'busy'; retryAfterMs: number }
  | { state: 'done' | 'dead' };

class RedisStore implements StoreVerbs {
  readonly durable = true;
  readonly description = 'Redis';
  readonly whenSilent: string | undefined;
  readonly #client: RedisClient;
  readonly #calls: ScriptCalls;
  readonly #shards: Shards;
  readonly #claims: Together;
  readonly #verbs: Together;
  #hasLooked = false;
  #layout: Promise<void> | undefined;

  constructor(client: RedisClient, whenSilent: string | undefined) {
    this.whenSilent = whenSilent;
    this.#client = client;
    this.#calls = scriptCallsOf(client);
    this.#shards = new Shards(this.#calls);
    this.#claims = new Together(this.#calls, CLAIM);
    this.#verbs = new Together(this.#calls, FENCED);
  }

  async claim(delivery: Claimable, lease: LeaseTerms): Promise<Claim> {
    await this.#checked();
    const { key, scope, id, event, receivedAt, body, proof } = delivery;
    const terms = [lease.leaseMs, lease.keepMs, lease.maxCrashes].map(integer);
    const described = JSON.stringify(
      body && proof !== undefined
        ? [scope, id, event, receivedAt, proof]
        : [scope, id, event, receivedAt],
    );
    const sealed = body ? toBase64(body) : NO_BODY;
    const answer = await this.#claims.run(key, lease.owner, ...terms, described, sealed);
    this.#lookOnce();
    const reply: ClaimReply = JSON.parse(answer);
    return reply.state === 'acquired'
      ? { ...reply, steps: Object.fromEntries(reply.steps) }
      : reply;
  }

  async renew(key: string, fence: number, leaseMs: number): Promise<boolean> {
    return (await this.#fenced('renew', key, fence, integer(leaseMs))) === 'true';
  }

  async completeStep(key: string, fence: number, step: string, output: Json): Promise<boolean> {
    const texts = [JSON.stringify(step), JSON.stringify(output)];
    return (await this.#fenced('step', key, fence, ...texts)) === 'true';
  }

  async complete(key: string, fence: number, keepMs: number): Promise<boolean> {
    return (await this.#fenced('complete', key, fence, integer(keepMs))) === 'true';
  }

  async fail(
    key: string,
    fence: number,
    { error, permanent }: FailTerms,
  ): Promise<'retry' | 'dead' | 'lost'> {
    const args = [String(permanent), JSON.stringify(error)];
    const state = await this.#fenced('fail', key, fence, ...args);
    return state === 'retry' || state === 'dead' ? state : 'lost';
  }

  async release(key: string, fence: number): Promise<boolean> {
    return (await this.#fenced('release', key, fence)) === 'true';
  }

  async redrive(key: string): Promise<boolean> {
    await this.#checked();
    return (await this.#run(REDRIVE, key)) === 'true';
  }

  async isDone(key: string): Promise<boolean> {
    await this.#checked();
    return (await this.#run(IS_DONE, key)) === 'true';
  }

  async purge(limit: number): Promise<number> {
    const purged = await this.#purge(OLD_DEAD, 'dead', limit);
    return purged + (await this.#purge(OLD_OPEN, 'open', limit - purged));
  }

  async #purge(script: Script, index: Index, limit: number): Promise<number> {
    const seen = new Set<string>();
    let purged = 0;
    while (purged < limit) {
      const wanted = limit - purged;
      const { keys } = await this.#shards.find(script, index, wanted);
      const before = seen.size;
      for (const key of keys) seen.add(key);
      // The same keys again: they stay in the index, and would be found forever.
      if (seen.size === before) break;
      const answers = await inGroups(keys, (key) => this.#run(PURGE, key));
      purged += answers.filter((answer) => answer === 'true').length;
      // The purge has moved keys that are not due yet, so the next turn finds those behind them.
      if (keys.length < wanted) break;
    }
    return purged;
  }

  list(filter: ReadFilter): Promise<StoredDelivery[]> {
    return list(filter, this.#shards, (script, key, ...args) => this.#run(script, key, ...args));
  }

  async count({ state, scope }: CountFilter): Promise<number> {
    const index = state === 'dead' ? 'dead' : 'open';
    const readsEach = state === 'failing' || scope !== undefined;
    const prefix = scope === undefined ? '' : `[${JSON.stringify(scope)},`;
    const script = readsEach ? COUNT_READ : COUNT;
    return Math.min(await this.#shards.count(script, index, state, prefix), COUNT_LIMIT);
  }

  #fenced(verb: string, key: string, fence: number, ...args: string[]): Promise<string> {
    return this.#verbs.run(key, verb, integer(fence), ...args);
  }

  #run(script: Script, key: string, ...args: string[]): Promise<string> {
    return script.run(this.#calls, deliveryKeys(key), args);
  }

  /**
   * @throws {UsageError} `client_invalid`
   * @throws {WebhookError} `schema_newer`
   */
  #checked(): Promise<void> {
    this.#layout ??= this.#checkLayout().catch((error) => {
      this.#layout = undefined;
      throw error;
    });
    return this.#layout;
  }

  async #checkLayout(): Promise<void> {
    checkClient(this.#client);
    const newer = await RECORD_LAYOUT.run(this.#calls, [LAYOUT_KEY], []).catch(refuseReply);
    if (newer.startsWith('!')) throw commandRefused(newer.slice(1));
    const [layout = 0, beside = 0] = newer.split(' ').map(Number);
    checkLayout({ layout, beside }, 'Redis');
  }

  /** Checks the server's settings once. Not awaited, because it only warns. */
  #lookOnce(): void {
    if (this.#hasLooked) return;
    this.#hasLooked = true;
    void warnOfServer(this.#calls);
  }
}
