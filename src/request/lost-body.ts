import { withDocsLink } from '../errors/docs-link.js';
import { Rejection } from './outcome.js';
import { declaredLength, type WebhookHeaders, type WebhookRequest } from './request.js';

/** Returns the rejection for a body with fewer bytes than its headers announce; `undefined` if it has all. */
export function rejectShort(
  bytes: Uint8Array,
  request: WebhookRequest,
  { id, event }: Partial<Pick<WebhookHeaders, 'id' | 'event'>>,
): Rejection | undefined {
  if (bytes.length >= declaredLength(request)) return undefined;
  const detail = lost('is shorter than its Content-Length');
  return new Rejection('body_incomplete', { id, event, detail });
}

/** Says why the signature cannot fit, if the body is not whole; `undefined` if the body looks whole. */
export function findLoss(bytes: Uint8Array): string | undefined {
  const what = describeLoss(bytes);
  return what && withDocsLink(lost(what), 'debug.md#lost-body');
}

function lost(what: string): string {
  return (
    `The body ${what}. Something before the receiver has read it, such as express.json() or request.text(), or has ` +
    'cut it, such as a Content-Length in characters instead of bytes.'
  );
}

function describeLoss(bytes: Uint8Array): string | undefined {
  if (bytes.length === 0) return 'is empty';
  return isCut(bytes) ? 'ends in the middle of a JSON value' : undefined;
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
/** `[` and `{`, and `]` and `}`, are two apart from each other. */
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Whether a JSON object or list has no end. Looks at each byte once, whatever the sender has sent: no byte of these
 * characters is part of another character in UTF-8.
 */
function isCut(bytes: Uint8Array): boolean {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (isText && byte === BACKSLASH) at++;
    else if (byte === QUOTE) isText = !isText;
    else if (isText) continue;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth--;
    else if (depth === 0 && byte !== undefined && byte > 0x20) return false;
  }
  return isText || depth > 0;
}
