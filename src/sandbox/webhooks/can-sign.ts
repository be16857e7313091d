import { toSecrets } from '../../request/signature.js';

/** Whether webhooks can be signed with this secret. The receiver rejects the same secrets. */
export function canSign(secret: unknown): boolean {
  if (typeof secret !== 'string') return false;
  try {
    toSecrets(secret);
    return true;
  } catch {
    return false;
  }
}
