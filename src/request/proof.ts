import { harmless } from '../report/harmless.js';
import { isJsonObject } from '../schemas/json.js';
import { headerEntries, type RequestHeaders, type WebhookRequest } from './request.js';

/** By what the body of a delivery is proven again, when it comes out of a queue. */
export interface Proof {
  readonly signature: string;
  /** The request as it came, which a `secret` function is asked with. */
  readonly url: string;
  readonly headers: RequestHeaders;
}

/** What says who somebody is has no place in a queue. */
const NOT_KEPT = new Set(['authorization', 'cookie', 'proxy-authorization']);

/** @param keepsRequest - Whether the request is needed as well, to find the secret by. */
export function writeProof(
  signature: string,
  { url = '', headers }: WebhookRequest,
  keepsRequest: boolean,
): string {
  if (!keepsRequest) return signature;
  const kept = headerEntries(headers).filter(([name]) => !NOT_KEPT.has(name));
  // Of the kind that they came in, so that a function reads them in the same way.
  const isFetch = typeof headers.get === 'function';
  return JSON.stringify({ signature, url, isFetch, headers: Object.fromEntries(kept) });
}

/** The same request, signed anew. */
export function signAgain(proof: string, signature: string): string {
  if (!proof.startsWith('{')) return signature;
  const given = parse(proof);
  return JSON.stringify({ ...(isJsonObject(given) ? given : {}), signature });
}

/** Reads what {@link writeProof} has written; anything else proves nothing. */
export function readProof(text: string): Proof {
  const given = text.startsWith('{') ? parse(text) : { signature: text };
  const { signature, url, isFetch, headers } = isJsonObject(given) ? given : {};
  const texts = isJsonObject(headers) ? textsOf(Object.entries(headers)) : {};
  return {
    signature: typeof signature === 'string' ? signature : '',
    url: typeof url === 'string' ? url : '',
    headers: isFetch === true ? toFetchHeaders(texts) : texts,
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Without those that no request can have: what is in a queue may be anybody's. */
function toFetchHeaders(texts: Readonly<Record<string, string>>): RequestHeaders {
  const headers = new Headers();
  for (const [name, value] of Object.entries(texts)) harmless(() => headers.set(name, value));
  return headers;
}

function textsOf(entries: [string, unknown][]): Record<string, string> {
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
