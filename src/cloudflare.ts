export type { LargeBinding } from './queues/cloudflare/large-bodies.js';
export {
  type CloudflareQueueOptions,
  cloudflareQueue,
  type QueueBinding,
} from './queues/cloudflare/queue.js';
export {
  cloudflareWorker,
  type QueueBatch,
  type QueueMessage,
} from './queues/cloudflare/worker.js';
export type { CloudflareWorkerOptions } from './queues/cloudflare/worker-options.js';
export type { D1Client, D1Statement } from './stores/d1/database.js';
export { type D1Ledger, d1Ledger } from './stores/d1/ledger.js';
export { d1Schema, d1Store } from './stores/d1/store.js';
export type { D1Batch } from './stores/d1/transact.js';
export { type DeliveriesState, WebhookDeliveries } from './stores/durable-object/object.js';
export { type OwnStorage, storageStore } from './stores/durable-object/own-storage.js';
export {
  type DeliveriesNamespace,
  type DurableObjectStoreOptions,
  durableObjectStore,
} from './stores/durable-object/store.js';
