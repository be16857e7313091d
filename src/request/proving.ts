import type { SealedDelivery } from './delivery.js';
import { readProof, signAgain } from './proof.js';
import type { SecretSource } from './secret-source.js';
import { type Secret, sign, verifySignature } from './signature.js';

/** Says why a delivery out of a queue is not proven to be genuine; nothing where it is. */
export async function findDoubt(
  source: SecretSource,
  sealed: SealedDelivery,
): Promise<string | undefined> {
  const { body, scope, proof = '' } = sealed;
  const { signature } = readProof(proof);
  if (signature === '') return 'It came without a signature.';
  const found = await source.findAgain(sealed);
  if (!found) return NO_SHOP;
  if (found.scope !== scope) return 'The secret function finds another scope for it.';
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
  return { ...sealed, proof: signAgain(sealed.proof ?? '', sign(sealed.body, secret)) };
}

/** Told to who runs the receiver, and never to a sender. */
export function noneFits({ length }: readonly Secret[]): string {
  const none = length === 1 ? 'The secret does not fit.' : `None of the ${length} secrets fits.`;
  return (
    `${none} Compare it with the signing secret of your account; where it is the same, something ` +
    'changes the body on its way.'
  );
}

export const NO_SHOP = 'The secret function knows no shop for it.';
