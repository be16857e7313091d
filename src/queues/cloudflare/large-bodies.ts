import { UsageError, WebhookError } from '../../errors.js';
import { nameType } from '../../request/bytes.js';
import { fromBase64, toBase64 } from '../../stores/base64.js';
import type { D1Client } from '../../stores/d1/database.js';

/** The part of the binding of an R2 bucket that is used: by its shape, as with a queue's. */
interface R2Binding {
  head(name: string): Promise<unknown>;
  get(name: string): Promise<{ arrayBuffer(): Promise<ArrayBuffer> } | null>;
  put(name: string, body: Uint8Array): Promise<unknown>;
}

/** Where bodies are offloaded that are too large for a message. */
export type LargeBinding = R2Binding | D1Client;

export interface LargeBodies {
  put(name: string, body: Uint8Array): Promise<unknown>;
  /** Empty where it has been cleared, `undefined` where it has never been. */
  get(name: string): Promise<Uint8Array | undefined>;
  /**
   * Deletes the bytes, and leaves an empty body under the name: another message about the same delivery
   * can still come, and must be able to tell that it is done with from a body that is missing.
   */
  clear(name: string): Promise<unknown>;
}

/** @throws {UsageError} `client_invalid` where it is the binding of neither. */
export function largeBodies(binding: LargeBinding | undefined): LargeBodies {
  if (isR2(binding)) return inR2(binding);
  if (isD1(binding)) return inD1(binding);
  throw new UsageError(
    'client_invalid',
    '`large` is the binding of an R2 bucket or a D1 database, such as env.BODIES with "r2_buckets": ' +
      `[{ "binding": "BODIES", "bucket_name": "…" }] in wrangler.jsonc, and was given ${nameType(binding)}.`,
  );
}

const NOTHING = new Uint8Array(0);

// A rule of the bucket deletes what begins with this.
const PREFIX = 'webhook-body/';

function inR2(bucket: R2Binding): LargeBodies {
  return {
    put: (name, body) => bucket.put(PREFIX + name, body),
    get: async (name) => {
      const object = await bucket.get(PREFIX + name);
      return object ? new Uint8Array(await object.arrayBuffer()) : undefined;
    },
    clear: (name) => bucket.put(PREFIX + name, NOTHING),
  };
}

/** A row of D1 holds 2 MB; some of it are the name and the time, and base64 is a third larger than its bytes. */
const MAX_ROW_BYTES = 1_499_000;

// The body comes last: to read what is before it, SQLite need not read the body.
const SCHEMA = [
  'CREATE TABLE IF NOT EXISTS webhook_body (name TEXT PRIMARY KEY, at INTEGER NOT NULL, body TEXT NOT NULL)',
  'CREATE INDEX IF NOT EXISTS webhook_body_at ON webhook_body (at)',
];
const PUT = 'INSERT OR REPLACE INTO webhook_body (name, at, body) VALUES (?1, unixepoch(), ?2)';
const GET = 'SELECT body FROM webhook_body WHERE name = ?1';
const CLEAR = "UPDATE webhook_body SET at = unixepoch(), body = '' WHERE name = ?1";
// More than one goes for each that comes. No queue keeps a message for longer than 14 days.
const FORGET = `DELETE FROM webhook_body WHERE name IN (
  SELECT name FROM webhook_body WHERE at < unixepoch() - 30 * 24 * 60 * 60 ORDER BY at LIMIT 10)`;

function inD1(database: D1Client): LargeBodies {
  return {
    put: async (name, body) => {
      if (body.length > MAX_ROW_BYTES) {
        throw new WebhookError(
          'delivery_too_large',
          `A body of ${body.length} bytes is too large for D1, which holds 2 MB a row, in base64. ` +
            'Give an R2 bucket as `large`.',
        );
      }
      // In one go, which costs next to nothing where the table is there.
      await database.batch([
        ...SCHEMA.map((sql) => database.prepare(sql)),
        database.prepare(PUT).bind(name, toBase64(body)),
        database.prepare(FORGET),
      ]);
    },
    get: async (name) => {
      const { results } = await database.prepare(GET).bind(name).all();
      return results.length === 0 ? undefined : toBytes(results[0]);
    },
    clear: (name) => database.prepare(CLEAR).bind(name).all(),
  };
}

/** As text: D1 would give a BLOB as a list of numbers, many times as large. */
function toBytes(row: unknown): Uint8Array {
  const body = typeof row === 'object' && row !== null && 'body' in row ? row.body : undefined;
  if (typeof body === 'string') return fromBase64(body);
  throw new WebhookError('job_invalid', 'The body in the table webhook_body is no text.');
}

// A KV namespace has get() and put() as well, but may give what was there a minute ago.
function isR2(binding: LargeBinding | undefined): binding is R2Binding {
  return has(binding, 'head') && has(binding, 'get') && has(binding, 'put');
}

function isD1(binding: LargeBinding | undefined): binding is D1Client {
  return has(binding, 'prepare') && has(binding, 'batch');
}

function has(binding: unknown, method: string): boolean {
  return (
    typeof binding === 'object' &&
    binding !== null &&
    typeof Reflect.get(binding, method) === 'function'
  );
}
