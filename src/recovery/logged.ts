import { parseAddress } from '../address.js';
import type { Outcome, Rejection, Result } from '../outcome.js';
import { chooseRoutes } from '../process/choosing.js';
import { keyOfEffect } from '../process/effect.js';
import type { Inside } from '../process/inside.js';
import type { Router } from '../process/router.js';
import { toUtf8 } from '../request/bytes.js';
import { canonicalJson } from '../request/canonical-json.js';
import { type Delivery, readDelivery } from '../request/delivery.js';
import { contentId, contentOf, deliveryKey, leaseKey } from '../request/key.js';
import { writeProof } from '../request/proof.js';
import { findReceipt, isGenuine, type Receipt } from '../request/receipt.js';
import { unwrapBody } from '../request/unwrap.js';
import { findUnpaid, type Order } from '../schemas/order.js';
import type { WebhookLog } from '../schemas/webhook-log.js';
import type { Settings } from '../settings.js';
import type { Effect } from '../stores/ledger.js';
import type { UnfinishedState } from '../stores/store.js';

/**
 * Whose answer an entry of the log has. `own`: of a receiver with this secret, for this delivery. `edited`: of
 * one, for the delivery of this id while it said something else. `foreign`: anybody's, or one that was no success.
 */
export type AnsweredBy = 'own' | 'edited' | 'foreign';

/** An entry of the provider's log, as a receiver reads it. */
export interface LoggedDelivery {
  readonly event: string;
  /** What the payload holds, as it was sent. */
  readonly record: unknown;
  readonly answeredBy: AnsweredBy;
  /**
   * Reads it whole, as the receiver would have: few are. Its `source` is `'log'`: it is trusted for where it was
   * read, and was never verified.
   */
  delivery(): Promise<Delivery | Rejection>;
  /** The receipt of its answer, where that is the receiver's. */
  readonly receipt?: Receipt;
}

/** What recovery is given of a receiver. */
export interface Recovering {
  /** How long the receiver remembers what is done, in milliseconds. */
  readonly keepMs: number;
  /** Whether its store survives the process. */
  readonly durable: boolean;
  /** Whether the order is in a state that means paid. */
  isPaid(order: Order): boolean;
  /** Whether it finds its shop by the address that was sent to. */
  readonly findsShop: boolean;
  /** Whether what handles an order that is paid does it once per order, whatever delivery says so. */
  isOncePerOrder(): boolean;
  /**
   * Reads an entry of the log. `undefined`: it went to an address for which the `secret` function knows no shop.
   * Throws what functions and schemas of the user's throw.
   */
  read(entry: WebhookLog): Promise<LoggedDelivery | undefined>;
  /** Makes the delivery of an order that is paid and was never told of. */
  readOrder(order: Order, url: string): Promise<Delivery | Rejection | undefined>;
  /**
   * What each handler does for a delivery, under the key that its event has: that of the delivery or, with
   * `oncePer`, one of its own. Without those that have nothing to do for it. Throws what functions of the user's
   * throw.
   */
  effectsOf(delivery: Delivery): readonly Effect[];
  /** Whether it stands in front of a queue and has no handlers: the worker's receiver has them. */
  readonly isFront: boolean;
  /** Which of these keys the store says are done; `undefined` where it cannot say. */
  findDone(keys: readonly string[]): Promise<readonly string[] | undefined>;
  /** What the store keeps for a person: the ids of orders, by how their deliveries stand. */
  unfinished(): Promise<ReadonlyMap<string, UnfinishedState>>;
  /**
   * Takes a lease of a name, for who of many processes does something: `false` where another one has it. It ends
   * by itself.
   */
  lease(name: string, leaseMs: number): Promise<boolean>;
  /** Tells what a function or a schema of the user's has thrown at one. */
  onError(error: unknown, about: { readonly id: string; readonly event: string }): void;
  /** Steps 4 to 6: the same as for a delivery that came as a webhook, under the same key. */
  process(delivery: Delivery): Promise<Result>;
}

const PAID = 'order:paid';

export function toRecovering({ settings, processing, process }: Inside): Recovering {
  const { keepMs, store, paidStatuses } = settings;
  return {
    keepMs,
    durable: store.durable,
    isPaid: ({ status }) => findUnpaid(status, paidStatuses) === undefined,
    isOncePerOrder: () => processing.router.isOncePer(PAID),
    findsShop: settings.secretSource.asksRequest,
    read: (entry) => readLogged(entry, settings),
    readOrder: (order, url) => readPaidOrder(order, url, settings),
    isFront: settings.queue !== undefined && processing.router.handled === '',
    effectsOf: (delivery) => effectsOf(processing.router, delivery, paidStatuses),
    findDone: (keys) => findDone(settings, keys),
    unfinished: () => findUnfinished(settings),
    lease: (name, leaseMs) => takeLease(settings, name, leaseMs),
    onError: (error, { id, event }) => processing.onError(error, { id, event, scope: '' }),
    process(delivery) {
      processing.announce();
      return process(delivery);
    },
  };
}

/** Reads an entry of the provider's log. Most are fine, so no more of them is read than tells that. */
async function readLogged(
  entry: WebhookLog,
  settings: Settings,
): Promise<LoggedDelivery | undefined> {
  const { id, event, url = '', payload, created_at } = entry;
  const told = { id, event, url, payload, at: toDate(created_at) };
  const shop = await findShop(told, settings);
  if (!shop) return undefined;
  const parts = unwrapBody(payload, settings.unwrap, told, settings.limit);
  const delivery = () => readTold(told, shop, settings);
  const about = { event: parts.event ?? event, record: parts.record, delivery };
  const content = contentOf(parts.record, NO_BYTES);
  const receipt = receiptOf(entry);
  // Where the header that names it was lost on its way, the receiver knew the delivery by its content.
  const ids = [parts.id ?? id, contentId(content)];
  const knownId = receipt && ids.find((one) => isGenuine(receipt, one, shop.secrets));
  if (!receipt || knownId === undefined) return { ...about, answeredBy: 'foreign' };
  const known = { scope: shop.scope, id: knownId, event: about.event };
  // A 2xx that stands over it is somebody else's, such as of a proxy that hides errors.
  if (NO_SUCCESS.includes(receipt.outcome)) return { ...about, answeredBy: 'foreign', receipt };
  const key = deliveryKey(settings.keyBy, { ...known, content }, parts.record);
  const isOwn = key === receipt.key || isKnownByBytes(await delivery());
  return { ...about, answeredBy: isOwn ? 'own' : 'edited', receipt };
}

const NO_SUCCESS: readonly Outcome[] = ['rejected', 'failed', 'busy', 'unavailable'];

/** One that does not fit its event is known by its bytes, which the log does not have. */
function isKnownByBytes(delivery: Delivery | Rejection): boolean {
  return delivery.outcome === 'rejected' || delivery.kind === 'invalid';
}

const NO_BYTES = new Uint8Array();

/** Makes the delivery that would have told of a paid order. What comes of an order is never wrapped. */
async function readPaidOrder(
  order: Order,
  url: string,
  settings: Settings,
): Promise<Delivery | Rejection | undefined> {
  const { id, updated_at } = order;
  const told = { id: `order:${id}`, event: PAID, url, payload: order, at: toDate(updated_at) };
  const shop = await findShop(told, settings);
  return shop ? readTold(told, shop, { ...settings, unwrap: false }) : undefined;
}

/** What the provider has told, over its API. */
interface Told {
  readonly id: string;
  readonly event: string;
  readonly url: string;
  readonly payload: object;
  readonly at: Date;
}

/** The shop of an address, with its secrets and those that it has retired. */
async function findShop({ id, event, url, at }: Told, { secretSource }: Settings) {
  const proof = secretSource.asksRequest
    ? writeProof('', { method: 'POST', ...requestTo(url), body: NO_BYTES }, true)
    : '';
  const about = { key: '', scope: '', id, event, body: NO_BYTES, receivedAt: at.getTime() };
  return secretSource.findAgain({ ...about, proof });
}

function requestTo(url: string) {
  const address = parseAddress(url);
  const path = address ? address.pathname + address.search : '';
  return { url: path, headers: { host: address?.host ?? '' } };
}

async function readTold(
  { id, event, url, payload, at }: Told,
  { scope }: { readonly scope: string },
  settings: Settings,
): Promise<Delivery | Rejection> {
  // The payload, and not the bytes that were sent: the key does not depend on them.
  const body = toUtf8(toJson(payload));
  const envelope = { scope, id, event, receivedAt: at, request: requestTo(url), proof: undefined };
  return readDelivery(body, { ...envelope, source: 'log' }, settings);
}

/** A payload may be nested deeper than the stack is high; one that cannot be written at all is no JSON. */
function toJson(payload: object): string {
  try {
    return JSON.stringify(payload);
  } catch {
    return canonicalJson(payload) ?? '';
  }
}

function toDate(time: string | undefined): Date {
  const date = new Date(time ?? Number.NaN);
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
  const chosen = chooseRoutes(router.routesFor(delivery), delivery, paidStatuses);
  if (chosen.failure) throw chosen.failure.error;
  const { scope, key, payload } = delivery;
  return chosen.routes.map((route) => ({
    handler: route.storedName,
    key: route.oncePer ? keyOfEffect(route, scope, route.oncePer(payload)) : key,
  }));
}

async function findDone(
  { store }: Settings,
  keys: readonly string[],
): Promise<string[] | undefined> {
  if (!store.isDone) return undefined;
  const asked = keys.map(async (key) => ((await store.isDone?.(key)) ? [key] : []));
  return (await Promise.all(asked)).flat();
}

const PAGE = 100;

async function findUnfinished({ store, scope }: Settings): Promise<Map<string, UnfinishedState>> {
  const found = new Map<string, UnfinishedState>();
  for (const state of ['failing', 'stalled', 'dead'] as const) {
    for (let after: string | undefined; ; ) {
      const page = await store.list({ state, scope, after, limit: PAGE });
      for (const { orderId } of page) if (orderId !== undefined) found.set(orderId, state);
      after = page.at(-1)?.key;
      if (page.length < PAGE) break;
    }
  }
  return found;
}

async function takeLease(
  { store, scope = '' }: Settings,
  name: string,
  leaseMs: number,
): Promise<boolean> {
  const about = { id: name, event: name, receivedAt: Date.now(), body: undefined };
  const { state } = await store.claim(
    { key: leaseKey(scope, name), scope, ...about },
    {
      owner: crypto.randomUUID(),
      leaseMs,
      keepMs: Number.POSITIVE_INFINITY,
      maxCrashes: Number.POSITIVE_INFINITY,
    },
  );
  return state === 'acquired';
}
