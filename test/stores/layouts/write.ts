/**
 * Saves the records of the stores for the tests of all later versions. Run once for each layout, before the
 * layout changes, with a Node that has SQLite:
 *
 *     node --import tsx test/stores/layouts/write.ts 1
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Redis } from 'ioredis';
import pg from 'pg';
import { postgresLedger, postgresStore } from 'storefront-webhooks/postgres';
import { redisStore } from 'storefront-webhooks/redis';
import { type SqliteDatabase, sqliteLedger, sqliteStore } from 'storefront-webhooks/sqlite';
import { startPostgres } from '../../support/postgres.js';
import { startRedis } from '../../support/redis.js';
import { enter, fill } from './deliveries.js';

const layout = process.argv[2] ?? '';
const path = (name: string) => new URL(`${layout}.${name}`, import.meta.url);

async function writeSqlite(): Promise<void> {
  const { DatabaseSync } = createRequire(import.meta.url)('node:sqlite') as {
    DatabaseSync: new (file: string) => SqliteDatabase;
  };
  const database = new DatabaseSync('');
  await fill(sqliteStore(database));
  database.exec('BEGIN');
  await enter(sqliteLedger(), database);
  database.exec('COMMIT');
  const statements: string[] = [];
  const all = (sql: string) => database.prepare(sql).all() as Record<string, unknown>[];
  for (const { sql } of all('SELECT sql FROM sqlite_master WHERE sql IS NOT NULL'))
    statements.push(`${sql};`);
  for (const { name } of all(`SELECT name FROM sqlite_master WHERE type = 'table'`)) {
    for (const row of all(`SELECT * FROM ${name}`)) {
      const columns = Object.keys(row).join(', ');
      statements.push(
        `INSERT INTO ${name} (${columns}) VALUES (${Object.values(row).map(literal).join(', ')});`,
      );
    }
  }
  writeFileSync(path('sqlite.sql'), `${statements.join('\n')}\n`);
}

function literal(value: unknown): string {
  if (value === null) return 'NULL';
  if (value instanceof Uint8Array) return `x'${Buffer.from(value).toString('hex')}'`;
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
}

async function writePostgres(): Promise<void> {
  const server = await startPostgres();
  const pool = new pg.Pool({ connectionString: server.url });
  await fill(postgresStore(pool));
  const tx = await pool.connect();
  await tx.query('BEGIN');
  await enter(postgresLedger(pool), tx);
  await tx.query('COMMIT');
  tx.release();
  const options = ['--inserts', '--no-owner', '--table=webhook_*', server.url];
  const dump = execFileSync('pg_dump', options, { encoding: 'utf8' });
  // Leave out comments, which name the versions of programs, and commands that only psql understands.
  const lines = dump
    .split('\n')
    .filter((line) => line !== '' && !/^(--|\\|SET |SELECT )/.test(line));
  writeFileSync(path('postgres.sql'), `${lines.join('\n')}\n`);
  await pool.end();
  await server.remove();
}

async function writeRedis(): Promise<void> {
  const server = await startRedis();
  const client = new Redis(server.url);
  await fill(redisStore(client));
  const commands: string[][] = [];
  for (const key of (await client.keys('*')).sort()) {
    const type = await client.type(key);
    if (type === 'string') commands.push(['SET', key, String(await client.get(key))]);
    if (type === 'hash') {
      const fields = Object.entries(await client.hgetall(key));
      commands.push(['HSET', key, ...fields.flat().map(String)]);
    }
    if (type === 'zset') {
      const members = await client.zrange(key, '0', '-1', 'WITHSCORES');
      for (let at = 0; at < members.length; at += 2)
        commands.push(['ZADD', key, String(members[at + 1]), String(members[at])]);
    }
  }
  writeFileSync(path('redis.json'), `${JSON.stringify(commands, null, 1)}\n`);
  client.disconnect();
  await server.remove();
}

await writeSqlite();
await writePostgres();
await writeRedis();
