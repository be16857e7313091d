import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type BullmqEngine, makeBullmq } from '../../../queues/bullmq/engine.js';
import { enqueue, newDelivery, newReceiver } from '../../../queues/deliveries.js';
import { type Program, runProgram } from '../../../queues/programs.js';
import { type RedisServer, startRedis, withRedis } from '../../../support/redis.js';

const HOUR_MS = 3_600_000;

withRedis('a worker of BullMQ', () => {
  let server: RedisServer;
  let redis: Redis;
  const ends: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    server = await startRedis();
    redis = new Redis(server.url);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.remove();
  });
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  function open(attempts: number, delay: number): BullmqEngine {
    const engine = makeBullmq(server, { attempts });
    Object.assign(engine.bull, {
      jobsOpts: { attempts, backoff: { type: 'exponential', delay } },
    });
    ends.push(() => engine.close());
    return engine;
  }
  async function run({ name }: BullmqEngine, offMs: number): Promise<Program> {
    const env = { NAME: name, REDIS_PORT: `${server.port}`, CHAOS_CLOCK_MS: `${offMs}` };
    const program = await runProgram(env, 'wrong-clock');
    ends.push(() => program.kill());
    return program;
  }
  const ran = async ({ name }: BullmqEngine) =>
    (await redis.lrange(`ran:${name}`, 0, -1)).map(Number);

  describe.each([
    ['an hour fast', HOUR_MS],
    ['an hour slow', -HOUR_MS],
    ['right', 0],
  ])('whose clock is %s', (_, offMs) => {
    test('leaves a failed delivery to another worker, after its pause', {
      timeout: 60_000,
    }, async () => {
      const engine = open(10, 3_000);
      await enqueue(engine.queue, newDelivery());
      const wrong = await run(engine, offMs);
      await wrong.said;
      const failedAt = performance.now();
      const handled: number[] = [];
      await engine.work(
        newReceiver({ store: engine.store }).on('order:paid', () => {
          handled.push(performance.now() - failedAt);
        }),
      );
      // The worker with the wrong clock stops gracefully, even if it holds a job.
      wrong.stop();
      await vi.waitUntil(() => handled.length > 0, 30_000);
      expect(handled[0]).toBeLessThan(15_000);
      await vi.waitUntil(async () => (await engine.bull.getCompletedCount()) === 1, 10_000);
      expect(await engine.bull.getJobs(['completed'])).toMatchObject([{ attemptsMade: 2 }]);
    });

    test('uses up the attempts with their pauses, and parks the delivery', {
      timeout: 60_000,
    }, async () => {
      const engine = open(4, 500);
      await enqueue(engine.queue, newDelivery());
      await run(engine, offMs);
      await vi.waitUntil(async () => (await engine.bull.getCompletedCount()) === 1, 40_000);
      const [job] = await engine.bull.getCompleted();
      expect(job?.returnvalue).toEqual({ outcome: 'parked' });
      const times = await ran(engine);
      expect(times).toHaveLength(4);
      const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
      // The pauses are 0.5 s, 1 s and 2 s.
      for (const [index, pause] of pauses.entries()) {
        expect(pause).toBeGreaterThan(450 * 2 ** index);
      }
      expect(pauses.at(-1)).toBeLessThan(10_000);
      const dead = await engine.store.list({ state: 'dead', limit: 10 });
      expect(dead.map(({ error }) => error)).toContainEqual(expect.stringContaining('it fails'));
    });
  });
});
