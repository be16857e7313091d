import { Redis } from 'ioredis';
import pg from 'pg';
import { parentOf } from './server-cpu.mjs';

export function postgresPool(connectionString, max) {
  return new pg.Pool({ connectionString, max });
}

/** Returns the parent of the processes that serve the connections, one each. */
export async function postgresProcess(pool) {
  const { rows } = await pool.query('SELECT pg_backend_pid() AS pid');
  return process.platform === 'linux' ? parentOf(rows[0].pid) : undefined;
}

export function redisClient(url) {
  // BullMQ requires this.
  return new Redis(url, { maxRetriesPerRequest: null });
}

export async function redisProcess(client) {
  return Number(/process_id:(\d+)/.exec(await client.info('server'))[1]);
}

export async function redisBytes(client) {
  return Number(/used_memory:(\d+)/.exec(await client.info('memory'))[1]);
}
