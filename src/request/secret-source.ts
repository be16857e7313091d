import { UsageError } from '../errors.js';
import { withTimeout } from '../timing.js';
import type { DeliverySource, SealedDelivery } from './delivery.js';
import { readProof } from './proof.js';
import type { HeaderNames, RequestHeaders, WebhookRequest } from './request.js';
import { badSecret, type Secret, sign, toSecrets } from './signature.js';

/** The secret of one shop. */
export interface ScopedSecret {
  /** One secret, or several while one is being replaced. */
  readonly secret: Secret | readonly Secret[];
  /** The shop's name. Handlers see it, and the same id in two scopes is two deliveries. */
  readonly scope: string;
}

/** A secret that has been replaced. */
export interface RetiredSecret {
  readonly secret: Secret;
  /** Until when a worker accepts what was queued under it: a `Date`, or a text that `Date` reads. */
  readonly until: Date | string;
}

/** By what a `secret` function finds the shop. */
export interface SecretRequest {
  readonly method: string;
  /** Path and query, as they were sent. */
  readonly url: string | undefined;
  readonly headers: RequestHeaders;
  /**
   * `webhook`: the request is here. `queue`: a worker proves a delivery again, by the request that it came
   * with, or recovery reads the provider's log, and knows the address alone. Give secrets that have been
   * replaced lately only then.
   */
  readonly source: Exclude<DeliverySource, 'log'>;
}

/** Finds the secret for a request, by its address or headers. `null`: no such shop, answered 401. */
export type SecretFunction = (
  request: SecretRequest,
) => ScopedSecret | null | Promise<ScopedSecret | null>;

/** The secrets for one delivery, and its scope. */
export interface FoundSecrets {
  readonly secrets: readonly Secret[];
  readonly scope: string;
}

/** Gives the secrets for a request or for a delivery out of a queue. */
export interface SecretSource {
  /** Whether the request has to be kept, to find the secret again. */
  readonly asksRequest: boolean;
  find(request: WebhookRequest): FoundSecrets | null | Promise<FoundSecrets | null>;
  /** Those that a delivery out of a queue may be signed with. */
  findAgain(sealed: SealedDelivery): Promise<FoundSecrets | null>;
}

/**
 * Reads the `secret` option, and refuses a secret that cannot be meant.
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
    until: new Date(until).getTime(),
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
        'The secret function has to give { secret, scope } with a scope that is a string, or null where there is no such shop.',
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
      throw badSecret('it begins or ends with white space, as when a line end was pasted with it');
    }
  }
  return secrets.map((one) => (typeof one === 'string' ? one : Uint8Array.from(one)));
}

/** How the provider of a receiver signs, and by which headers. */
export interface Signing {
  readonly headerPrefix: string;
  sign(request: WebhookRequest, body: Uint8Array): Promise<string>;
}

/** Signs as the provider would, with the first of the secrets. */
export function toSigning(
  { find }: Pick<SecretSource, 'find'>,
  { prefix }: Pick<HeaderNames, 'prefix'>,
): Signing {
  return {
    headerPrefix: prefix,
    async sign(request, body) {
      const [secret] = (await find(request))?.secrets ?? [];
      return secret === undefined ? '' : sign(body, secret);
    },
  };
}

/**
 * What a receiver says of how its provider signs, so that tests need no second copy of the secret. In the
 * global registry, because an application may hold this package twice, in ESM and in CommonJS.
 */
export const SIGN: unique symbol = Symbol.for('storefront-webhooks.sign') as never;
