import { Rejection } from '../outcome.js';
import type { Settings } from '../settings.js';
import { type Delivery, readDelivery } from './delivery.js';
import { writeProof } from './proof.js';
import { NO_SHOP, noneFits } from './proving.js';
import { readBody, readHeaders, type WebhookRequest } from './request.js';
import { fits } from './signature.js';

/** Steps 1 to 3: checks the headers, reads the body, verifies it, and reads the delivery. */
export async function verifyRequest(
  request: WebhookRequest,
  settings: Settings,
): Promise<Delivery | Rejection> {
  const headers = readHeaders(request, settings);
  if (headers.outcome === 'rejected') return headers;

  const body = await readBody(request.body, settings);
  if (body.outcome === 'rejected') return body;

  const { event, id, signature } = headers;
  const { secretSource, keepsRequest } = settings;
  const shop = await secretSource.find(request);
  if (!shop || !fits(body.bytes, signature, shop.secrets)) {
    const detail = shop ? noneFits(shop.secrets) : NO_SHOP;
    return new Rejection('signature_invalid', { id, event, detail });
  }
  const { scope } = shop;
  const proof = writeProof(signature, request, keepsRequest);
  const { url = '' } = request;
  const came = { request: { url, headers: request.headers }, receivedAt: new Date() };
  const envelope = { event, id, scope, proof, source: 'webhook', ...came } as const;
  return readDelivery(body.bytes, envelope, settings);
}
