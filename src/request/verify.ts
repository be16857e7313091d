import { explained } from '../explained.js';
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
import { fits, type Secret } from './signature.js';

/** A request whose signature holds. */
export interface SignedRequest {
  readonly headers: WebhookHeaders;
  readonly bytes: Uint8Array;
  /** Of which shop its secrets are. */
  readonly scope: string;
  readonly secrets: readonly Secret[];
  readonly outcome?: undefined;
}

/** A delivery whose signature holds, with what signs the receipt of its answer. */
export interface Verified {
  readonly delivery: Delivery;
  readonly secret: Secret;
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
    const detail = shop
      ? explained(noneFits(shop.secrets), 'debug.md#none-fits')
      : explained(NO_SHOP, 'debug.md#no-shop');
    return new Rejection('signature_invalid', { id, event, detail });
  }
  return { headers, bytes: body.bytes, scope: shop.scope, secrets: shop.secrets };
}

/** Steps 1 to 3: verifies a request, and reads the delivery in it. */
export async function verifyRequest(
  request: WebhookRequest,
  settings: Settings,
): Promise<Verified | Rejection> {
  const signed = await verifySignedRequest(request, settings);
  if (signed.outcome === 'rejected') return signed;
  const { headers, bytes, scope, secrets } = signed;
  const { event, id, signature } = headers;
  const proof = writeProof(signature, request, settings.keepsRequest);
  const { url = '' } = request;
  const came = { request: { url, headers: request.headers }, receivedAt: new Date() };
  const envelope = { event, id, scope, proof, source: 'webhook', ...came } as const;
  const delivery = await readDelivery(bytes, envelope, settings);
  if (delivery.outcome === 'rejected') return delivery;
  // A source gives at least one; of several, the first is the one that stays.
  const [secret = ''] = secrets;
  return { delivery, secret };
}
