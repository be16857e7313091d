export { ApiError, type ApiErrorCode } from './api-error.js';
export type {
  ApiAttempt,
  CallOptions,
  ListOptions,
  ReadOptions,
  SendOptions,
} from './call-options.js';
export { type Client, createClient } from './client.js';
export type { ClientAuth, ClientOptions } from './client-options.js';
export { type ConfirmOptions, confirmOrders, type OrderReader } from './confirm-orders.js';
export type { Variant } from './endpoint.js';
export type { Fetch, FetchResponse } from './fetch.js';
export type { List, Page } from './list.js';
