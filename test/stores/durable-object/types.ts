// Checks the types against Cloudflare's. `npx tsc` compiles this file, and nothing runs it.
import type {
  D1Database,
  D1DatabaseSession,
  D1PreparedStatement,
  DurableObjectNamespace,
  DurableObjectState,
  DurableObjectStub,
  Fetcher,
  KVNamespace,
} from '@cloudflare/workers-types';
import { createReceiver } from 'storefront-webhooks';
import {
  d1Ledger,
  d1Store,
  durableObjectStore,
  WebhookDeliveries,
} from 'storefront-webhooks/cloudflare';

declare const plain: DurableObjectNamespace;
declare const typed: DurableObjectNamespace<WebhookDeliveries>;
declare const stub: DurableObjectStub<WebhookDeliveries>;
declare const service: Fetcher;
declare const state: DurableObjectState;
declare const database: D1Database;
declare const session: D1DatabaseSession;
declare const statement: D1PreparedStatement;
declare const kv: KVNamespace;
const secret = 'a secret for tests';
const effect = { key: 'a'.repeat(64), handler: 'order:paid' };

export function realBindingsAreTaken() {
  createReceiver({ secret, store: durableObjectStore(plain) });
  durableObjectStore(typed, { shards: 4 });
  durableObjectStore(typed.jurisdiction('eu'));
  new WebhookDeliveries(state, {});
  createReceiver({ secret, store: d1Store(database) });
  d1Store(session);
  d1Ledger(database).batch(effect, [statement, database.prepare('SELECT 1').bind()]);
}

export function otherBindingsAreRefused() {
  // @ts-expect-error Workers KV cannot compare and set
  createReceiver({ secret, store: kv });
  // @ts-expect-error Workers KV is not a namespace of objects
  durableObjectStore(kv);
  // @ts-expect-error Workers KV is not a database
  d1Store(kv);
  // @ts-expect-error Workers KV has no transactions
  d1Ledger(kv);
  // @ts-expect-error an object is not a namespace
  durableObjectStore(stub);
  // @ts-expect-error another Worker is not a store
  createReceiver({ secret, store: service });
  // @ts-expect-error the binding itself instead of a store on it
  createReceiver({ secret, store: database });
  // @ts-expect-error a database is not a namespace
  durableObjectStore(database);
  // @ts-expect-error a misspelt option
  durableObjectStore(plain, { shard: 4 });
  // @ts-expect-error SQL text is not a statement
  d1Ledger(database).batch(effect, ['UPDATE stock SET n = n - 1']);
  // @ts-expect-error the name of the handler is missing
  d1Ledger(database).batch({ key: effect.key }, [statement]);
}
