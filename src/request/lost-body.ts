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
  const isEmpty = bytes.length === 0;
  if (!isEmpty && !isCut(bytes)) return undefined;
  const what = lost(isEmpty ? 'is empty' : 'ends in the middle of a JSON value');
  return withDocsLink(what, 'debug.md#lost-body');
}

function lost(what: string): string {
  return (
    `The body ${what}: something before the receiver has read or cut it, such as express.json(), request.text(), ` +
    'or a Content-Length that counts characters.'
  );
}

/**
 * Whether a JSON text, object or list has no end. Looks at each byte once, whatever the sender has sent: in UTF-8, no
 * byte of these characters is part of another one.
 */
function isCut(bytes: Uint8Array): boolean {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    // `[` and `{` differ in this bit alone, and so do `]` and `}`.
    const bracket = byte | 0x20;
    if (byte === QUOTE) isText = !isText;
    else if (isText) at += byte === BACKSLASH ? 1 : 0;
    else if (bracket === OPEN) depth++;
    else if (bracket === CLOSE) depth--;
    else if (depth === 0 && byte > SPACE) return false;
  }
  return isText || depth > 0;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const SPACE = 0x20;
