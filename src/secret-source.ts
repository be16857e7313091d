import { UsageError } from './errors.js';
import { inTime } from './in-time.js';
import type { WebhookRequest } from './request.js';
import { badSecret, type Secret, toSecrets } from './signature.js';

/** The secret of one shop. */
export interface ScopedSecret {
  /** One secret, or several while one is being replaced. */
  readonly secret: Secret | readonly Secret[];
  /** The shop's name. Handlers see it, and the same id in two scopes is two deliveries. */
  readonly scope: string;
}

/** Finds the secret for a request, by its address or headers. `null`: no such shop, answered 401. */
export type SecretFunction = (
  request: Omit<WebhookRequest, 'body'>,
) => ScopedSecret | null | Promise<ScopedSecret | null>;

/** Gives the secrets for a request, and the scope of its delivery. */
export type SecretSource = (request: WebhookRequest) => Found | Promise<Found>;

type Found = { readonly secrets: readonly Secret[]; readonly scope: string } | null;

/**
 * Reads the `secret` option, and refuses a secret that cannot be meant.
 *
 * @throws {UsageError} `secret_invalid`
 */
export function toSecretSource(
  secret: Secret | readonly (Secret | undefined)[] | SecretFunction | undefined,
  scope: string,
): SecretSource {
  if (typeof secret !== 'function') {
    const fixed = { secrets: toTrimmedSecrets(secret), scope };
    return () => fixed;
  }
  return async ({ method, url, headers }) => {
    const found = await inTime(
      Promise.resolve(secret({ method, url, headers })),
      'The secret function',
    );
    if (found === null) return null;
    if (typeof found?.scope !== 'string') {
      throw new UsageError(
        'secret_invalid',
        'The secret function has to give { secret, scope } with a scope that is a string, or null where there is no such shop.',
      );
    }
    return { secrets: toTrimmedSecrets(found.secret), scope: found.scope };
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
