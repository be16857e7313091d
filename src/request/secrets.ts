import { UsageError } from '../errors/errors.js';
import { withTimeout } from '../runtime/timing.js';
import { toTime } from '../schemas/values.js';
import type { DeliverySource, SealedDelivery } from './delivery.js';
import { readProof, signAgain } from './proof.js';
import type { HeaderNames, RequestHeaders, WebhookRequest } from './request.js';
import { badSecret, type Secret, sign, toSecrets, verifySignature } from './signature.js';

/**
 * The secret of one shop. A `secret` function may return a `ScopedSecret<Secret | undefined>`, for environment variables:
 * the receiver skips each `undefined` in the list.
 */
export interface ScopedSecret<Listed = Secret> {
  /** One secret, or several while one is being replaced. */
  readonly secret: Secret | readonly Listed[];
  /**
   * The name of the shop. Handlers see it, and the same id in two scopes is two deliveries. Keep it: under another
   * scope, delivered orders would be delivered again. A receiver with one secret has the scope `''` by default.
   */
  readonly scope: string;
}

/** A secret that has been replaced. */
export interface RetiredSecret {
  readonly secret: Secret;
  /** When workers stop accepting deliveries queued under it: a `Date`, or a text that `Date` can parse, in UTC. */
  readonly until: Date | string;
}

/** The request for which a `secret` function finds the shop. */
export interface SecretRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly url: string | undefined;
  readonly headers: RequestHeaders;
  /**
   * `webhook`: the request has just arrived. `queue`: a worker verifies a delivery again, with the request that
   * carried it, or recovery reads the provider's log and knows only the address. The queue does not store
   * `authorization`, `proxy-authorization` and `cookie`, so do not find the shop by these headers. Return recently
   * replaced secrets only for `queue`.
   */
  readonly source: Exclude<DeliverySource, 'log'>;
}

/** Finds the secret for a request, by its address or headers. Returns `null` for an unknown shop: answered 401. */
export type SecretFunction = (
  request: SecretRequest,
) => ScopedSecret<Secret | undefined> | null | Promise<ScopedSecret<Secret | undefined> | null>;

/** The secrets for one delivery, and its scope. */
export interface FoundSecrets {
  readonly secrets: readonly Secret[];
  readonly scope: string;
}

/** Returns the secrets for a request, or for a delivery out of a queue. */
export interface SecretSource {
  /** Whether the request has to be kept, to find the secret again later. */
  readonly asksRequest: boolean;
  find(request: WebhookRequest): FoundSecrets | null | Promise<FoundSecrets | null>;
  /** Returns the secrets with which a delivery out of a queue may be signed. */
  findAgain(sealed: SealedDelivery): Promise<FoundSecrets | null>;
}

/**
 * Reads the `secret` option, and rejects a secret that cannot be intended.
 *
 * @throws {UsageError} `secret_invalid`
 */
export function toSecretSource(
  secret: Secret | readonly (Secret | undefined)[] | SecretFunction | undefined,
  scope: string,
  retired: readonly RetiredSecret[],
): SecretSource {
  return typeof secret === 'function'
    ? askedSource(secret)
    : fixedSource(toTrimmedSecrets(secret), scope, retired);
}

function fixedSource(
  secrets: readonly Secret[],
  scope: string,
  retired: readonly RetiredSecret[],
): SecretSource {
  const found = { secrets, scope };
  const earlier = retired.map(({ secret, until }) => ({
    secrets: toTrimmedSecrets(secret),
    until: toTime(until),
  }));
  return {
    asksRequest: false,
    find: () => found,
    findAgain: async () => {
      const accepted = earlier.filter(({ until }) => Date.now() < until);
      return { secrets: [...secrets, ...accepted.flatMap((one) => one.secrets)], scope };
    },
  };
}

function askedSource(ask: SecretFunction): SecretSource {
  const find = async (request: SecretRequest): Promise<FoundSecrets | null> => {
    const found = await withTimeout(Promise.resolve(ask(request)), 'The secret function');
    if (found === null) return null;
    if (typeof found?.scope !== 'string') {
      throw new UsageError(
        'secret_invalid',
        'The secret function has to return { secret, scope } with a string as scope, or null for an unknown shop.',
      );
    }
    return { secrets: toTrimmedSecrets(found.secret), scope: found.scope };
  };
  return {
    asksRequest: true,
    find: ({ method, url, headers }) => find({ method, url, headers, source: 'webhook' }),
    findAgain: ({ proof = '' }) => {
      const { url, headers } = readProof(proof);
      return find({ method: 'POST', url, headers, source: 'queue' });
    },
  };
}

function toTrimmedSecrets(secret: unknown): readonly Secret[] {
  const set = Array.isArray(secret) ? secret.filter((one) => one !== undefined) : secret;
  const secrets = toSecrets(set);
  for (const one of secrets) {
    if (typeof one === 'string' && /^[\s\p{Cf}]|[\s\p{Cf}]$/u.test(one)) {
      throw badSecret('it begins or ends with white space, such as a pasted line break');
    }
  }
  return secrets.map((one) => (typeof one === 'string' ? one : Uint8Array.from(one)));
}

/** The secrets and headers with which the provider of a receiver signs. */
export interface Signing {
  readonly headerNames: Pick<HeaderNames, 'prefix'>;
  /** `undefined` if calls are not signed. */
  readonly secretSource: Pick<SecretSource, 'find'> | undefined;
}

/**
 * The property through which tests sign with a receiver's secret, so that they need no copy of it. The symbol is
 * in the global registry, because an application may load this package twice, as ESM and as CommonJS.
 */
export const SIGN: unique symbol = Symbol.for('storefront-webhooks.sign') as never;

/** Says why a delivery out of a queue cannot be verified; `undefined` if it is genuine. */
export async function findDoubt(
  source: SecretSource,
  sealed: SealedDelivery,
): Promise<string | undefined> {
  const { body, scope, proof = '' } = sealed;
  const { signature } = readProof(proof);
  if (signature === '') return 'The delivery has no signature.';
  const found = await source.findAgain(sealed);
  if (!found) return NO_SHOP;
  if (found.scope !== scope) return 'The secret function returned another scope for it.';
  return verifySignature(body, signature, found.secrets) ? undefined : noneFits(found.secrets);
}

/**
 * Signs a delivery again with the current secret of its shop, because its store vouches for it. Returns the
 * delivery unchanged if the shop does not exist any more.
 */
export async function resign(
  source: SecretSource,
  sealed: SealedDelivery,
): Promise<SealedDelivery> {
  const [secret] = (await source.findAgain(sealed))?.secrets ?? [];
  if (secret === undefined) return sealed;
  return { ...sealed, proof: signAgain(sealed.proof ?? '', sign(sealed.body, secret)) };
}

/** Says that no secret matches. For the operator. Never sent to the sender. */
export function noneFits(secrets: readonly Secret[]): string {
  const { length } = secrets;
  const none = length === 1 ? 'The secret does not fit.' : `None of the ${length} secrets fits.`;
  return (
    `${none} ${secrets.some(isQuoted) ? IN_QUOTES : ''}Compare it with the signing secret of your account; if it is ` +
    'the same, something changes the body on its way: find out what with npx storefront-webhooks doctor --listen.'
  );
}

/** Whether a secret is in quotation marks, as from a file whose reader does not remove them. */
function isQuoted(secret: Secret): boolean {
  return typeof secret === 'string' && /^(["'`]).*\1$/s.test(secret);
}

const IN_QUOTES = 'A secret is in quotation marks, which are part of it: remove them. ';

export const NO_SHOP = 'The secret function knows no shop for it.';
