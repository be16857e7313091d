import type { SealedDelivery } from './delivery.js';
import { readProof, writeProof } from './proof.js';
import type { SecretSource } from './secret-source.js';
import { type Secret, sign, verifySignature } from './signature.js';

/** Says why a delivery out of a queue is not proven to be genuine; nothing where it is. */
export async function findDoubt(
  source: SecretSource,
  sealed: SealedDelivery,
): Promise<string | undefined> {
  const { body, scope, proof = '' } = sealed;
  const { signature } = readProof(proof);
  if (signature === '') return 'it came without a signature';
  const found = await source.findAgain(sealed);
  if (!found) return 'the secret function knows no shop for it';
  if (found.scope !== scope) return 'the secret function finds another scope for it';
  return verifySignature(body, signature, found.secrets) ? undefined : noneFits(found.secrets);
}

/**
 * Signs a delivery anew, with the secret that its shop has now: of one for which its store has vouched. As it
 * was, where there is no such shop any more.
 */
export async function resign(
  source: SecretSource,
  sealed: SealedDelivery,
): Promise<SealedDelivery> {
  const [secret] = (await source.findAgain(sealed))?.secrets ?? [];
  if (secret === undefined) return sealed;
  const request = { method: 'POST', body: sealed.body, ...readProof(sealed.proof ?? '') };
  return { ...sealed, proof: writeProof(sign(sealed.body, secret), request, source.asksRequest) };
}

export function noneFits({ length }: readonly Secret[]): string {
  return length === 1 ? 'the secret does not fit' : `none of the ${length} secrets fits`;
}
