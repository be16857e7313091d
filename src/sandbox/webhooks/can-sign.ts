import { toSecrets } from '../../request/signature.js';

/**
 * Whether webhooks can be signed with this secret. The receiver rejects more secrets: also one that begins or ends with
 * white space, because a line break was probably pasted with it.
 */
export function canSign(secret: unknown): boolean {
  if (typeof secret !== 'string') return false;
  try {
    toSecrets(secret);
    return true;
  } catch {
    return false;
  }
}
