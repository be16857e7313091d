export { createReceiver } from './create-receiver.js';
export {
  UsageError,
  type UsageErrorCode,
  WebhookError,
  type WebhookErrorCode,
} from './errors/errors.js';
export type { Confirm, Confirmation, StatedOrder } from './process/confirm.js';
export type {
  EffectOptions,
  Handler,
  HandlerOptions,
  TransactionEvent,
  WebhookEvent,
  WhenInfo,
} from './process/handler.js';
export type { ReceiverOptions } from './process/options.js';
export type { PaidOptions } from './process/paid-orders.js';
export type { MarkOptions } from './process/process-delivery.js';
export type { HandOff, HandOffOptions } from './process/queue.js';
export type { CloseOptions } from './process/shutdown.js';
export { fromJob, type Job, toJob } from './queues/job.js';
export { type Dispatching, type JobResult, runJob } from './queues/run-job.js';
export type { Receiver } from './receiver.js';
export type { ErrorInfo, Hooks, OutcomeInfo, RejectionInfo } from './report/hooks.js';
export type {
  ConfirmationResult,
  Telemetry,
  TracedDelivery,
  TracedHandler,
} from './report/telemetry.js';
export {
  type Delivery,
  type DeliverySource,
  type KeptDelivery,
  type SealedDelivery,
  seal,
} from './request/delivery.js';
export type { KeyBy, KeyFunction } from './request/key.js';
export type { WebhookResponse } from './request/outcome.js';
export {
  type Dispatched,
  type Outcome,
  Rejection,
  type RejectionCode,
  type Result,
} from './request/outcome.js';
export type { ReceivedRequest } from './request/proof.js';
export type { RequestHeaders, UnsignedRequest, WebhookRequest } from './request/request.js';
export type {
  RetiredSecret,
  ScopedSecret,
  SecretFunction,
  SecretRequest,
} from './request/secrets.js';
export { type Secret, verifySignature } from './request/signature.js';
export type { Unwrap, UnwrapFunction, Unwrapped } from './request/unwrap.js';
export { type BlacklistEntry, blacklistEntrySchema } from './schemas/blacklist-entry.js';
export { type Category, categorySchema } from './schemas/category.js';
export { type EventSchemas, eventSchemas, type Payloads } from './schemas/events.js';
export { fileSchema, type StoredFile } from './schemas/file.js';
export type { Issue } from './schemas/issue.js';
export {
  isPaid,
  type Order,
  type OrderStatus,
  orderSchema,
  orderStatusLabel,
} from './schemas/order.js';
export {
  type HostedPayment,
  hostedPaymentSchema,
  type Payment,
  paymentSchema,
  type WhiteLabelPayment,
  whiteLabelPaymentSchema,
} from './schemas/payment.js';
export {
  isOlderProduct,
  type NewerProduct,
  newerProductSchema,
  type OlderProduct,
  olderProductSchema,
  type Product,
  productSchema,
} from './schemas/product.js';
export type { ResourceSchema } from './schemas/resource.js';
export type { StandardSchema } from './schemas/standard-schema.js';
export type { Json, JsonObject } from './schemas/values.js';
export {
  type SubscribedEvent,
  type WebhookEndpoint,
  webhookEndpointSchema,
} from './schemas/webhook-endpoint.js';
export { type WebhookLog, webhookLogSchema } from './schemas/webhook-log.js';
export { type ReadFilter, type StoreVerbs, withContract } from './stores/contract.js';
export type { EffectLedger } from './stores/ledger.js';
export { type MemoryStoreOptions, memoryStore } from './stores/memory.js';
export type {
  Claim,
  Claimable,
  CountFilter,
  FailTerms,
  IdempotencyStore,
  LeaseTerms,
  ListFilter,
  StoredDelivery,
  StoreTransactions,
  Transacted,
  TransactTerms,
  UnfinishedState,
} from './stores/store.js';
export { type StoredRow, toStored } from './stores/stored.js';
