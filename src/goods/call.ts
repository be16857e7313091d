import { UsageError } from '../errors.js';
import { Rejection } from '../outcome.js';
import { nameType } from '../request/bytes.js';
import { type Delivery, parseJson } from '../request/delivery.js';
import { checkOwnKey, goodsKey, headerText } from '../request/key.js';
import {
  headerEntries,
  readBody,
  readUnsignedHeaders,
  toTitle,
  toUnsigned,
  type WebhookRequest,
} from '../request/request.js';
import { verifySignedRequest } from '../request/verify.js';
import type { Issue } from '../schemas/issue.js';
import { isJsonObject } from '../schemas/json.js';
import { findUnpaid } from '../schemas/order.js';
import { withTimeout } from '../timing.js';
import { type GoodsOrder, type ReadOrder, readOrder } from './order.js';
import type { GoodsSettings } from './settings.js';

/** As what calls for goods are told of, and the name under which goods are recorded. */
export const GOODS = 'goods';

/** A call that may have goods, as a delivery whose payload is its order. */
export interface VerifiedCall extends Delivery {
  readonly payload: GoodsOrder;
}

/** The bytes of a call, and what is known of them. */
interface RawCall {
  readonly bytes: Uint8Array;
  readonly scope: string;
  /** As the header names it. */
  readonly event: string | undefined;
  readonly outcome?: undefined;
}

/**
 * Steps 1 to 3 of a call for goods: checks its headers, reads its body, verifies it, and reads the order in it.
 *
 * @throws {UsageError} `body_consumed`, `secret_invalid`, `option_invalid` or `key_invalid`, and what a function of
 *   the user's throws.
 */
export async function verifyCall(
  request: WebhookRequest,
  settings: GoodsSettings,
): Promise<VerifiedCall | Rejection> {
  const raw = await readRaw(request, settings);
  if (raw.outcome === 'rejected') return raw;
  const { bytes, scope } = raw;
  const isSigned = settings.secretSource !== undefined;
  if (settings.event !== undefined && raw.event !== settings.event) {
    const detail = `\`${toTitle(settings.headerNames.event)}\` does not name the event of verify.event.`;
    return new Rejection('event_header_invalid', { verified: isSigned, event: GOODS, detail });
  }

  const json = parseJson(bytes);
  if (json === undefined) return new Rejection('body_not_json', { verified: isSigned });
  const came = readOrder(await takeOrder(json.value, settings));
  if (!came) return misfit(NO_ID, { verified: isSigned });

  const allowed = await askAllow(came.order, request, settings);
  if (allowed === false) {
    const about = { id: headerText(came.order.id), event: GOODS };
    const detail = '`verify.allow` has refused it.';
    return new Rejection('call_refused', { verified: isSigned, ...about, detail });
  }
  const { order, issues, status } = allowed === true ? came : allowed;
  const id = headerText(order.id);
  const isStated = status !== undefined && status !== null;
  const unpaid = isStated ? findUnpaid(status, settings.paidStatuses) : undefined;
  if (unpaid) return misfit(unpaid, { verified: true, id });

  const key = goodsKey(scope, checkOwnKey(settings.oncePer(order), 'oncePer of createGoods'));
  const { url = '', headers } = request;
  return {
    ...{ kind: 'known', key, content: key, scope, id, event: GOODS, payload: order, issues },
    ...{ rawBody: bytes, receivedAt: new Date(), source: 'webhook', proof: undefined },
    request: { url, headers },
  };
}

async function readRaw(
  request: WebhookRequest,
  settings: GoodsSettings,
): Promise<RawCall | Rejection> {
  const { secretSource, scope } = settings;
  const rules = { ...settings, needsEvent: false };
  if (secretSource) {
    const signed = await verifySignedRequest(request, { ...rules, secretSource });
    if (signed.outcome === 'rejected') return signed;
    return { bytes: signed.bytes, scope: signed.scope, event: signed.headers.event };
  }
  const headers = readUnsignedHeaders(request, rules);
  if (headers.outcome === 'rejected') return headers;
  const body = await readBody(request.body, rules);
  if (body.outcome === 'rejected') return body;
  return { bytes: body.bytes, scope, event: headers.event };
}

function takeOrder(body: unknown, { order }: GoodsSettings): unknown {
  if (!order || !isJsonObject(body)) return body;
  return withTimeout(Promise.resolve(order(body)), 'verify.order');
}

/** Whether the call may have goods, or the order that is to be believed in place of the one that came. */
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
    'createGoods: verify.allow has to give true, false, or an order with an id, and gave ' +
      `${nameType(allowed)}.`,
  );
}

const NO_ID: Issue = {
  path: 'id',
  message: 'is missing: `verify.order` takes an order out of a body that holds more',
};

function misfit(
  issue: Issue,
  about: { readonly verified: boolean; readonly id?: string },
): Rejection {
  const detail = `${issue.path} ${issue.message}`;
  return new Rejection('payload_invalid', { ...about, event: GOODS, issues: [issue], detail });
}
