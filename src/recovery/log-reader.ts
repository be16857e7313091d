import type { Internals } from '../process/internals.js';
import { chooseRoutes } from '../process/matching-handlers.js';
import type { Settings } from '../process/read-options.js';
import type { Router } from '../process/router.js';
import { keyOfEffect } from '../process/run-handlers.js';
import { type Delivery, readDelivery } from '../request/delivery.js';
import { canonicalJson, contentId, contentOf, deliveryKey } from '../request/key.js';
import type { Outcome, Rejection, Result } from '../request/outcome.js';
import { Unprinted, writeProof } from '../request/proof.js';
import { findReceipt, isGenuine, type Receipt } from '../request/receipt.js';
import { unwrapBody } from '../request/unwrap.js';
import { parseAddress } from '../runtime/address.js';
import { toUtf8 } from '../runtime/bytes.js';
import { findUnpaid, type Order } from '../schemas/order.js';
import { toTime } from '../schemas/values.js';
import type { WebhookLog } from '../schemas/webhook-log.js';
import type { Effect } from '../stores/ledger.js';
import {
  type Delivers,
  findDone,
  findUnfinished,
  takeLease,
  type Unfinished,
} from './store-queries.js';

/**
 * The sender of the answer in a log entry. `own`: a receiver with this secret, to this delivery. `edited`: a
 * receiver with this secret, to the delivery of this id when it had other content. `other`: a receiver with
 * another secret, or the answer is to another delivery. `foreign`: any other server, or the answer was not a
 * success.
 */
export type AnsweredBy = 'own' | 'edited' | 'other' | 'foreign';

/** An entry of the provider's log, as a receiver reads it. */
export interface LoggedDelivery {
  readonly event: string;
  /** The record in the payload, as it was sent. */
  readonly record: unknown;
  readonly answeredBy: AnsweredBy;
  readonly scope: string;
  /**
   * Reads the whole delivery, as the receiver would have. Few entries need this. The delivery's `source` is
   * `'log'`: it is trusted because of where it was read, and was never verified.
   */
  delivery(): Promise<Delivery | Rejection>;
  /** Returns the key that it had if a proxy dropped its id on the way. Throws what `keyBy` throws. */
  keyWithoutId(): string;
  /** The receipt in its answer, if the answer is the receiver's. */
  readonly receipt?: Receipt;
}

/** The parts of a receiver that recovery uses. */
export interface Recovering {
  /** How long the receiver remembers what is done, in milliseconds. */
  readonly keepMs: number;
  /** Whether the receiver's store survives the process. */
  readonly durable: boolean;
  /** Whether the order is in a state that means paid. */
  isPaid(order: { readonly status?: unknown }): boolean;
  /** Returns the order as it was when it was paid, whatever has happened to it since then. */
  asPaid(order: Order): Order;
  /** Whether the receiver may have a handler for an event of an endpoint: always with `unwrap`, which may rename it. */
  handles(event: string): boolean;
  /** Whether the payload of an entry may wrap the record: with `unwrap`. */
  readonly unwraps: boolean;
  /** Whether the receiver's `secret` function finds the shop by the address of the request. */
  readonly findsShop: boolean;
  /** Returns the scope of an address, if the `secret` function knows its shop. Throws what that function throws. */
  scopeOf(url: string): Promise<string | undefined>;
  /** Whether each handler of a paid order runs once per order, whichever delivery says that it is paid. */
  isOncePerOrder(): boolean;
  /**
   * Whether a handler of a paid order that runs once per order also handles another event, as those of `onPaid` do.
   * Then the receiver needs no `order:paid`.
   */
  isToldBy(event: string): boolean;
  /**
   * Reads an entry of the log. Resolves to `undefined` if the `secret` function knows no shop for its
   * address. Throws what users' functions and schemas throw.
   */
  read(entry: WebhookLog): Promise<LoggedDelivery | undefined>;
  /** Makes a delivery of a paid order that the log does not mention. */
  readOrder(order: Order, url: string): Promise<Delivery | Rejection | undefined>;
  /**
   * Returns the effect of each handler that matches a delivery, under the key that the store uses: the
   * delivery's key or, with `oncePer`, the effect's own. Throws what users' functions throw.
   */
  effectsOf(delivery: Delivery): readonly Effect[];
  /** Whether the receiver only fills a queue and has no handlers. The worker's receiver has them. */
  readonly isFront: boolean;
  /** Returns the keys that the store has as done; `undefined` if the store cannot answer. */
  findDone(keys: readonly string[]): Promise<readonly string[] | undefined>;
  /** Returns the deliveries in the store that are not done, with the orders of `scopes`. Default: of all. */
  unfinished(scopes?: ReadonlySet<string>): Promise<Unfinished>;
  /**
   * Takes a named lease, so that one of many processes does something. Resolves to `false` if another process
   * has it. The lease expires by itself.
   */
  lease(name: string, leaseMs: number): Promise<boolean>;
  /** Reports what a user's function or schema has thrown. */
  onError(error: unknown, about: { readonly id: string; readonly event: string }): void;
  /** Runs steps 4 to 6 of a delivery, as for a webhook, under the same key. */
  process(delivery: Delivery): Promise<Result>;
}

const PAID = 'order:paid';

export function toRecovering({ settings, processing, process }: Internals): Recovering {
  const { keepMs, store, paidStatuses } = settings;
  const isFront = settings.queue !== undefined && processing.router.handled === '';
  return {
    keepMs,
    durable: store.durable,
    isPaid: ({ status }) => findUnpaid(status, paidStatuses) === undefined,
    isOncePerOrder: () => processing.router.isOncePer(PAID),
    isToldBy: (event) => isToldBy(event, processing.router),
    handles: (event) => isFront || settings.unwrap !== false || processing.router.handles(event),
    unwraps: settings.unwrap !== false,
    findsShop: settings.secretSource.asksRequest,
    scopeOf: (url) => scopeOf(url, settings),
    read: (entry) => readLogged(entry, settings),
    asPaid: (order) => ({ ...order, status: paidStatuses[0] ?? order.status }),
    readOrder: (order, url) => readPaidOrder(order, url, settings),
    isFront,
    effectsOf: (delivery) => effectsOf(processing.router, delivery, paidStatuses),
    findDone: (keys) => findDone(settings, keys),
    unfinished: (scopes) =>
      findUnfinished(settings, (event) => deliversBy(event, processing.router, isFront), scopes),
    lease: (name, leaseMs) => takeLease(settings, name, leaseMs),
    onError: (error, { id, event }) => processing.onError(error, { id, event, scope: '' }),
    process(delivery) {
      processing.announce();
      return process(delivery);
    },
  };
}

function isToldBy(event: string, router: Router): boolean {
  const routesFor = (one: string) => router.routesFor({ kind: 'known', event: one });
  const names = routesFor(event).map(({ storedName }) => storedName);
  return routesFor(PAID).some(({ oncePer, storedName }) => oncePer && names.includes(storedName));
}

/** Returns whether an event that says that an order is paid runs the handlers that deliver it, those of `order:paid`. */
function deliversBy(event: string, router: Router, isFront: boolean): Delivers {
  if (event === PAID || isToldBy(event, router)) return 'yes';
  // Only the worker knows the handlers.
  if (isFront) return event.startsWith('order:') ? 'maybe' : 'no';
  const routesFor = (one: string) => router.routesFor({ kind: 'known', event: one });
  const delivering = routesFor(PAID);
  // An order that no handler of `order:paid` delivers is delivered by another event.
  if (delivering.length === 0) return event.startsWith('order:') ? 'yes' : 'no';
  const isShared = routesFor(event).some(({ handler }) =>
    delivering.some((one) => one.handler === handler),
  );
  return isShared ? 'maybe' : 'no';
}

/**
 * Reads an entry of the provider's log, and no more of it than is needed to see that it is done, as most are.
 */
async function readLogged(
  entry: WebhookLog,
  settings: Settings,
): Promise<LoggedDelivery | undefined> {
  const { id, event, url = '', payload, created_at } = entry;
  const found = { id, event, url, payload, at: toDate(created_at) };
  const shop = await findShop(found, settings);
  if (!shop) return undefined;
  const parts = unwrapBody(payload, settings.unwrap, found, settings.limit);
  const delivery = () => readRecord(found, shop, settings);
  const { scope, secrets } = shop;
  const known = { event: parts.event ?? event, record: parts.record, scope, delivery };
  const content = contentOf(parts.record, NO_BYTES);
  const keyWith = (knownId: string) =>
    deliveryKey(settings.keyBy, { scope, id: knownId, event: known.event, content }, parts.record);
  const receipt = receiptOf(entry);
  // If the header with the id was lost on its way, the receiver identified the delivery by its content.
  const ids = [parts.id ?? id, contentId(content)];
  const about = { ...known, keyWithoutId: () => keyWith(contentId(content)) };
  const knownId = receipt && ids.find((one) => isGenuine(receipt, one, secrets));
  if (!receipt) return { ...about, answeredBy: 'foreign' };
  if (knownId === undefined) return { ...about, answeredBy: 'other' };
  // The receiver does not send these outcomes with a 2xx. A server in between did, such as a proxy that hides
  // errors.
  if (NO_SUCCESS.includes(receipt.outcome)) return { ...about, answeredBy: 'foreign', receipt };
  const isOwn = keyWith(knownId) === receipt.key || isKnownByBytes(await delivery());
  return { ...about, answeredBy: isOwn ? 'own' : 'edited', receipt };
}

const NO_SUCCESS: readonly Outcome[] = ['rejected', 'failed', 'busy', 'unavailable'];

/**
 * Returns whether the receiver identified a delivery by its bytes, which the log does not have: one that does
 * not fit its event.
 */
function isKnownByBytes(delivery: Delivery | Rejection): boolean {
  return delivery.outcome === 'rejected' || delivery.kind === 'invalid';
}

const NO_BYTES = new Uint8Array();

/**
 * Makes the delivery that the webhook of a paid order would have been. A record from the API is never
 * wrapped.
 */
async function readPaidOrder(
  order: Order,
  url: string,
  settings: Settings,
): Promise<Delivery | Rejection | undefined> {
  const { id, updated_at } = order;
  const found = { id: `order:${id}`, event: PAID, url, payload: order, at: toDate(updated_at) };
  const shop = await findShop(found, settings);
  return shop ? readRecord(found, shop, { ...settings, unwrap: false }) : undefined;
}

/** A delivery or an order, from the provider's API. */
interface ApiRecord {
  readonly id: string;
  readonly event: string;
  readonly url: string;
  readonly payload: object;
  readonly at: Date;
}

/** Returns the shop of an address, with its current and its retired secrets. */
async function findShop({ id, event, url, at }: ApiRecord, { secretSource }: Settings) {
  const proof = secretSource.asksRequest
    ? writeProof('', { method: 'POST', ...requestTo(url), body: NO_BYTES }, true)
    : '';
  const about = { key: '', scope: '', id, event, body: NO_BYTES, receivedAt: at.getTime() };
  return secretSource.findAgain({ ...about, proof });
}

async function scopeOf(url: string, settings: Settings): Promise<string | undefined> {
  const about = { id: '', event: PAID, url, payload: {}, at: new Date() };
  return (await findShop(about, settings))?.scope;
}

function requestTo(url: string) {
  const address = parseAddress(url);
  const path = address ? address.pathname + address.search : '';
  return { url: path, headers: { host: address?.host ?? '' } };
}

async function readRecord(
  { id, event, url, payload, at }: ApiRecord,
  { scope }: { readonly scope: string },
  settings: Settings,
): Promise<Delivery | Rejection> {
  // The log has the payload, not the bytes that were sent. The key does not depend on them.
  const body = toUtf8(toJson(payload));
  const to = requestTo(url);
  const request = new Unprinted(to.url, to.headers);
  const envelope = { scope, id, event, receivedAt: at, request };
  return readDelivery(body, { ...envelope, source: 'log' }, settings);
}

/**
 * Returns the payload as JSON, even if it is nested too deeply for `JSON.stringify`. If it cannot be written
 * at all, returns a text that is not valid JSON.
 */
function toJson(payload: object): string {
  try {
    return JSON.stringify(payload);
  } catch {
    return canonicalJson(payload) ?? '';
  }
}

function toDate(time: string | undefined): Date {
  const date = new Date(toTime(time));
  return Number.isNaN(date.getTime()) ? new Date() : date;
}

function receiptOf({ response, response_headers }: WebhookLog): Receipt | undefined {
  for (const text of [response, ...Object.values(response_headers ?? {}).flat()]) {
    const receipt = typeof text === 'string' ? findReceipt(text) : undefined;
    if (receipt) return receipt;
  }
  return undefined;
}

function effectsOf(
  router: Router,
  delivery: Delivery,
  paidStatuses: Settings['paidStatuses'],
): Effect[] {
  const { routes, broken } = chooseRoutes(router.routesFor(delivery), delivery, paidStatuses);
  const [first] = broken;
  if (first) throw first.error;
  const { scope, key, payload } = delivery;
  return routes.map((route) => ({
    handler: route.storedName,
    key: route.oncePer ? keyOfEffect(route, scope, route.oncePer(payload)) : key,
  }));
}
