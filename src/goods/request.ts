import { UsageError } from '../errors/errors.js';
import { type BodyBudget, readBody } from '../request/body.js';
import { type Delivery, hasRoundedId, parseJson, ROUNDED_ID } from '../request/delivery.js';
import { checkOwnKey, goodsKey, headerText } from '../request/key.js';
import { rejectShort } from '../request/lost-body.js';
import { type Dispatched, Rejection } from '../request/outcome.js';
import { Unprinted } from '../request/proof.js';
import {
  headerEntries,
  readHeaders,
  readUnsignedHeaders,
  toTitle,
  toUnsigned,
  type WebhookHeaders,
  type WebhookRequest,
} from '../request/request.js';
import { verifySignedRequest } from '../request/verify.js';
import { nameType } from '../runtime/bytes.js';
import { withTimeout } from '../runtime/timing.js';
import type { Issue } from '../schemas/issue.js';
import { findUnpaid } from '../schemas/order.js';
import { isJsonObject } from '../schemas/values.js';
import type { HeldBodies } from './held-bodies.js';
import { type GoodsOrder, type ReadOrder, readOrder } from './order.js';
import type { GoodsSettings } from './read-options.js';

/** The event name of calls in hooks and logs, and the step name under which the store records goods. */
export const GOODS = 'goods';

export interface VerifiedCall extends Delivery {
  readonly payload: GoodsOrder;
}

/** The headers of a call: all of a signed call, or the event alone. */
export type CallHeaders =
  | {
      readonly signed: WebhookHeaders;
      readonly event: string | undefined;
      readonly outcome?: undefined;
    }
  | {
      readonly signed?: undefined;
      readonly event: string | undefined;
      readonly outcome?: undefined;
    };

/** The raw body of a call, and its scope. */
interface RawCall {
  readonly bytes: Uint8Array;
  readonly scope: string;
  readonly outcome?: undefined;
}

/** Runs step 1 of a call for goods: the checks that need no byte of the body. */
export function readCallHeaders(
  request: WebhookRequest,
  settings: GoodsSettings,
): CallHeaders | Rejection {
  const rules = { ...settings, needsEvent: false };
  if (!settings.secretSource) return readUnsignedHeaders(request, rules);
  const signed = readHeaders(request, rules);
  return signed.outcome === 'rejected' ? signed : { signed, event: signed.event };
}

/**
 * Runs the rest of steps 1 to 3 of a call for goods: reads its body, verifies it, and reads the order in it.
 *
 * @throws {UsageError} `body_consumed`, `secret_invalid`, `option_invalid` or `key_invalid`. Errors of the user's
 *   own functions pass through.
 */
export async function verifyCall(
  request: WebhookRequest,
  headers: CallHeaders,
  settings: GoodsSettings,
  { bodies, held }: { readonly bodies: BodyBudget; readonly held: HeldBodies },
): Promise<VerifiedCall | Rejection | Dispatched> {
  const raw = await readRaw(request, headers, settings, bodies);
  if (raw.outcome === 'rejected') return raw;
  return held.hold(raw.bytes, () => verifyRaw(raw, request, headers, settings));
}

async function verifyRaw(
  { bytes, scope }: RawCall,
  request: WebhookRequest,
  headers: CallHeaders,
  settings: GoodsSettings,
): Promise<VerifiedCall | Rejection> {
  const isSigned = settings.secretSource !== undefined;
  if (settings.event !== undefined && headers.event !== settings.event) {
    const detail = `\`${toTitle(settings.headerNames.event)}\` does not name the event of verify.event.`;
    return new Rejection('event_header_invalid', { verified: isSigned, event: GOODS, detail });
  }

  const json = parseJson(bytes);
  if (json === undefined) return new Rejection('body_not_json', { verified: isSigned });
  const came = readOrder(await takeOrder(json.value, settings));
  if (!came) return misfit(NO_ID, { verified: isSigned });
  // An unsigned call may have a huge id, and searching it for each of many numbers would block the event loop.
  const isSearched = settings.order && String(came.order.id).length <= MAX_SEARCHED;
  if (isSearched && hasRoundedId(json.text, came.order))
    return misfit(ROUNDED_ID, { verified: isSigned });

  const allowed = await askAllow(came.order, request, settings);
  if (allowed === false) {
    const about = { id: headerText(came.order.id), event: GOODS };
    const detail = '`verify.allow` rejected this call.';
    return new Rejection('call_refused', { verified: isSigned, ...about, detail });
  }
  const { order, issues, status } = allowed === true ? came : allowed;
  const id = headerText(order.id);
  const isStated = status !== undefined && status !== null;
  // Other endpoints of the account receive signed bodies that are not orders: a feedback names its product.
  if (!isStated && isSigned && allowed === true) return misfit(NO_STATUS, { verified: true, id });
  const unpaid = isStated ? findUnpaid(status, settings.paidStatuses) : undefined;
  if (unpaid) return misfit(unpaid, { verified: true, id });

  const key = goodsKey(
    scope,
    checkOwnKey(settings.oncePer(order), 'oncePer of createGoods has to return'),
  );
  const { url = '' } = request;
  return {
    ...{ kind: 'known', key, content: key, scope, id, event: GOODS, payload: order, issues },
    ...{ rawBody: bytes, receivedAt: new Date(), source: 'webhook' },
    request: new Unprinted(url, request.headers),
  };
}

async function readRaw(
  request: WebhookRequest,
  { signed }: CallHeaders,
  settings: GoodsSettings,
  bodies: BodyBudget,
): Promise<RawCall | Rejection> {
  const { secretSource, scope } = settings;
  if (secretSource && signed)
    return verifySignedRequest(request, signed, { ...settings, secretSource }, bodies);
  const body = await readBody(request.body, settings, bodies);
  if (body.outcome === 'rejected') return body;
  return rejectShort(body.bytes, request, {}) ?? { bytes: body.bytes, scope };
}

function takeOrder(body: unknown, { order }: GoodsSettings): unknown {
  if (!order || !isJsonObject(body)) return body;
  return withTimeout(Promise.resolve(order(body)), 'verify.order');
}

/** Resolves to whether the call may have goods, or to the order that replaces the one in the call. */
async function askAllow(
  order: GoodsOrder,
  { url = '', headers }: WebhookRequest,
  { allow }: GoodsSettings,
): Promise<boolean | ReadOrder> {
  if (!allow) return true;
  const call = {
    ...toUnsigned(url, headers),
    headers: Object.fromEntries(headerEntries(headers)),
  };
  const allowed = await withTimeout(Promise.resolve(allow(order, call)), 'verify.allow');
  if (allowed === undefined || allowed === null) return false;
  if (typeof allowed === 'boolean') return allowed;
  const found = readOrder(allowed);
  if (found) return found;
  throw new UsageError(
    'option_invalid',
    'createGoods: verify.allow has to return true, false, or an order with an id, but returned ' +
      `${nameType(allowed)}.`,
  );
}

/** The longest id that is compared with the numbers of the body. */
const MAX_SEARCHED = 1000;

const NO_ID: Issue = {
  path: 'id',
  message:
    'is missing. If the body holds more than the order, extract the order with `verify.order`',
};

const NO_STATUS: Issue = {
  path: 'status',
  message:
    'is missing, so the signed body may not be a paid order. If your provider sends no status, add one in ' +
    '`verify.order`, or return the order from your own records in `verify.allow`',
};

function misfit(
  issue: Issue,
  about: { readonly verified: boolean; readonly id?: string },
): Rejection {
  const detail = `${issue.path} ${issue.message}`;
  return new Rejection('payload_invalid', { ...about, event: GOODS, issues: [issue], detail });
}
