import { UsageError, WebhookError } from '../../errors/errors.js';
import { fromBase64, toBase64 } from '../../runtime/base64.js';
import { nameType } from '../../runtime/bytes.js';
import type { D1Client } from '../../stores/d1/database.js';

/** The part of an R2 bucket's binding that is used. Declared here, as for a queue, to need no Cloudflare types. */
interface R2Binding {
  head(name: string): Promise<unknown>;
  get(name: string): Promise<{ arrayBuffer(): Promise<ArrayBuffer> } | null>;
  put(name: string, body: Uint8Array): Promise<unknown>;
}

/** The binding of the storage for bodies that are too large for a message. */
export type LargeBinding = R2Binding | D1Client;

export interface LargeBodies {
  put(name: string, body: Uint8Array): Promise<unknown>;
  /** Resolves to the body: empty if it was cleared, `undefined` if it never existed. */
  get(name: string): Promise<Uint8Array | undefined>;
  /**
   * Replaces the body with an empty one. Another message about the same delivery may still come, and has to
   * distinguish a delivery that is done from a missing body.
   */
  clear(name: string): Promise<unknown>;
}

/** @throws {UsageError} `client_invalid` if the binding is neither an R2 bucket nor a D1 database. */
export function largeBodies(binding: LargeBinding | undefined): LargeBodies {
  if (isR2(binding)) return inR2(binding);
  if (isD1(binding)) return inD1(binding);
  throw new UsageError(
    'client_invalid',
    '`large` takes the binding of an R2 bucket or a D1 database, such as env.BODIES with "r2_buckets": ' +
      `[{ "binding": "BODIES", "bucket_name": "…" }] in wrangler.jsonc, but got ${nameType(binding)}.`,
  );
}

const NOTHING = new Uint8Array(0);

// For a lifecycle rule of the bucket that deletes old objects with this prefix.
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

/** A D1 row holds 2 MB, including the name and the time; base64 is a third larger than the bytes. */
const MAX_ROW_BYTES = 1_499_000;

// The body is the last column, so that SQLite can read the others without it.
const SCHEMA = [
  'CREATE TABLE IF NOT EXISTS webhook_body (name TEXT PRIMARY KEY, at INTEGER NOT NULL, body TEXT NOT NULL)',
  'CREATE INDEX IF NOT EXISTS webhook_body_at ON webhook_body (at)',
];
const PUT = 'INSERT OR REPLACE INTO webhook_body (name, at, body) VALUES (?1, unixepoch(), ?2)';
const GET = 'SELECT body FROM webhook_body WHERE name = ?1';
const CLEAR = "UPDATE webhook_body SET at = unixepoch(), body = '' WHERE name = ?1";
// Each new body deletes several old ones. No queue keeps a message for longer than 14 days.
const FORGET = `DELETE FROM webhook_body WHERE name IN (
  SELECT name FROM webhook_body WHERE at < unixepoch() - 30 * 24 * 60 * 60 ORDER BY at LIMIT 10)`;

function inD1(database: D1Client): LargeBodies {
  return {
    put: async (name, body) => {
      if (body.length > MAX_ROW_BYTES) {
        throw new WebhookError(
          'delivery_too_large',
          `A body of ${body.length} bytes is too large for D1, whose rows hold 2 MB, in base64. ` +
            'Pass an R2 bucket as `large`.',
        );
      }
      // In one batch, so that checking for the table costs almost nothing.
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

/** Decodes a body. D1 keeps it as text, because it would return a BLOB as a much larger list of numbers. */
function toBytes(row: unknown): Uint8Array {
  const body = typeof row === 'object' && row !== null && 'body' in row ? row.body : undefined;
  if (typeof body === 'string') return fromBase64(body);
  throw new WebhookError('job_invalid', 'The body in the table webhook_body is not text.');
}

// A KV namespace also has get() and put(), but its reads may be a minute old.
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
