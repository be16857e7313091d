import { harmless } from '../report/harmless.js';
import { isJsonObject } from '../schemas/json.js';
import { harmlessHeaders, type RequestHeaders, type WebhookRequest } from './request.js';

/** By what the body of a delivery is proven again, when it comes out of a queue. */
export interface Proof {
  readonly signature: string;
  /** The request as it came, which a `secret` function is asked with; empty where it was not kept. */
  readonly url: string;
  readonly headers: RequestHeaders;
}

/** @param keepsRequest - Whether the request is kept as well, to find the secret by and for the handlers. */
export function writeProof(
  signature: string,
  { url = '', headers }: WebhookRequest,
  keepsRequest: boolean,
): string {
  if (!keepsRequest) return signature;
  // Of the kind that they came in, so that a function reads them in the same way.
  const isFetch = typeof headers.get === 'function';
  return JSON.stringify({ signature, url, isFetch, headers: harmlessHeaders(headers) });
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
