import { withDocsLink } from '../errors/docs-link.js';
import { type BodyBudget, type BodyRules, readBody } from './body.js';
import { type Delivery, type ReadingRules, readDelivery } from './delivery.js';
import { findLoss, rejectShort } from './lost-body.js';
import { Rejection } from './outcome.js';
import { Unprinted, writeProof } from './proof.js';
import type { WebhookHeaders, WebhookRequest } from './request.js';
import { NO_SHOP, noneFits, type SecretSource } from './secrets.js';
import { fits, type Secret } from './signature.js';

/** A request whose signature matches. */
export interface SignedRequest {
  readonly bytes: Uint8Array;
  /** The shop that the secrets belong to. */
  readonly scope: string;
  readonly secrets: readonly Secret[];
  readonly outcome?: undefined;
}

/** A delivery whose signature matches, with the secret that signs the receipt of its answer. */
export interface Verified {
  readonly delivery: Delivery;
  readonly secret: Secret;
  readonly outcome?: undefined;
}

/** The settings for verifying a request. */
export interface SignatureRules extends BodyRules {
  readonly secretSource: SecretSource;
}

/** Steps 1 and 2: reads the body and verifies it. The headers have been read before. */
export async function verifySignedRequest(
  request: WebhookRequest,
  headers: WebhookHeaders,
  rules: SignatureRules,
  bodies?: BodyBudget,
): Promise<SignedRequest | Rejection> {
  // Before the body is in memory: a slow search would otherwise hold the bodies of anyone.
  const shop = await rules.secretSource.find(request);
  const body = await readBody(request.body, rules, bodies);
  if (body.outcome === 'rejected') return body;

  const { event, id, signature } = headers;
  if (!shop || !fits(body.bytes, signature, shop.secrets)) {
    // Only now: if the signature fits, these are the bytes that the provider has signed, whatever the headers say.
    const short = rejectShort(body.bytes, request, headers);
    if (short) return short;
    const detail = shop
      ? (findLoss(body.bytes) ?? withDocsLink(noneFits(shop.secrets), 'debug.md#none-fits'))
      : withDocsLink(NO_SHOP, 'debug.md#no-shop');
    return new Rejection('signature_invalid', { id, event, detail });
  }
  return { bytes: body.bytes, scope: shop.scope, secrets: shop.secrets };
}

/** The settings for verifying a request and reading its delivery. */
export interface RequestRules extends SignatureRules, ReadingRules {
  /** Whether the proof contains the request, because the delivery may be verified again elsewhere. */
  readonly keepsRequest: boolean;
}

/** Steps 1 to 3: verifies a request, and reads its delivery. */
export async function verifyRequest(
  request: WebhookRequest,
  headers: WebhookHeaders,
  rules: RequestRules,
  bodies?: BodyBudget,
): Promise<Verified | Rejection> {
  const signed = await verifySignedRequest(request, headers, rules, bodies);
  if (signed.outcome === 'rejected') return signed;
  const { bytes, scope, secrets } = signed;
  const { event, id, signature } = headers;
  const proof = writeProof(signature, request, rules.keepsRequest);
  const { url = '' } = request;
  const receivedAt = new Date();
  const unprinted = new Unprinted(url, request.headers, proof);
  const envelope = { event, id, scope, source: 'webhook', request: unprinted, receivedAt } as const;
  const delivery = await readDelivery(bytes, envelope, rules);
  if (delivery.outcome === 'rejected') return delivery;
  // A source returns at least one secret. Of several, the first is the current one.
  const [secret = ''] = secrets;
  return { delivery, secret };
}
