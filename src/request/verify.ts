import { Rejection } from '../outcome.js';
import type { Settings } from '../settings.js';
import { type Delivery, readDelivery } from './delivery.js';
import { writeProof } from './proof.js';
import { NO_SHOP, noneFits } from './proving.js';
import {
  type HeaderRules,
  readBody,
  readHeaders,
  type WebhookHeaders,
  type WebhookRequest,
} from './request.js';
import type { SecretSource } from './secret-source.js';
import { fits } from './signature.js';

/** A request whose signature holds. */
export interface SignedRequest {
  readonly headers: WebhookHeaders;
  readonly bytes: Uint8Array;
  /** Of which shop its secret is. */
  readonly scope: string;
  readonly outcome?: undefined;
}

/** How a request is verified. */
export interface SignatureRules extends HeaderRules {
  readonly secretSource: SecretSource;
  readonly bodyTimeoutMs: number;
}

/** Steps 1 and 2: checks the headers, reads the body, and verifies it. */
export async function verifySignedRequest(
  request: WebhookRequest,
  rules: SignatureRules,
): Promise<SignedRequest | Rejection> {
  const headers = readHeaders(request, rules);
  if (headers.outcome === 'rejected') return headers;

  const body = await readBody(request.body, rules);
  if (body.outcome === 'rejected') return body;

  const { event, id, signature } = headers;
  const shop = await rules.secretSource.find(request);
  if (!shop || !fits(body.bytes, signature, shop.secrets)) {
    const detail = shop ? noneFits(shop.secrets) : NO_SHOP;
    return new Rejection('signature_invalid', { id, event, detail });
  }
  return { headers, bytes: body.bytes, scope: shop.scope };
}

/** Steps 1 to 3: verifies a request, and reads the delivery in it. */
export async function verifyRequest(
  request: WebhookRequest,
  settings: Settings,
): Promise<Delivery | Rejection> {
  const signed = await verifySignedRequest(request, settings);
  if (signed.outcome === 'rejected') return signed;
  const { headers, bytes, scope } = signed;
  const { event, id, signature } = headers;
  const proof = writeProof(signature, request, settings.keepsRequest);
  const { url = '' } = request;
  const came = { request: { url, headers: request.headers }, receivedAt: new Date() };
  const envelope = { event, id, scope, proof, source: 'webhook', ...came } as const;
  return readDelivery(bytes, envelope, settings);
}
