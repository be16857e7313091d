import { safely } from '../errors/log.js';
import { isJsonObject } from '../schemas/values.js';
import { harmlessHeaders, type RequestHeaders, type WebhookRequest } from './request.js';

/** The parts of a request that are kept beside its body. Printing it shows none of them. */
export interface ReceivedRequest {
  /** Path and query, as sent; empty if they are not known. */
  readonly url: string;
  readonly headers: RequestHeaders;
  /** Verifies the body again in a queue's worker. Opaque: `seal()` passes it on. */
  readonly proof: string | undefined;
}

/**
 * Hides its parts from `console.log`, `JSON.stringify` and error reporters: with the signature, anyone who can
 * read a log could send the delivery again.
 */
export class Unprinted implements ReceivedRequest {
  readonly #url: string;
  readonly #headers: RequestHeaders;
  readonly #proof: string | undefined;

  constructor(url: string, headers: RequestHeaders, proof?: string) {
    this.#url = url;
    this.#headers = headers;
    this.#proof = proof;
  }

  get url(): string {
    return this.#url;
  }

  get headers(): RequestHeaders {
    return this.#headers;
  }

  get proof(): string | undefined {
    return this.#proof;
  }
}

/** Verifies the body of a delivery again when it comes out of a queue: the signature and the request. */
export interface Proof {
  readonly signature: string;
  /** The request as received, for a `secret` function; empty if it was not kept. */
  readonly url: string;
  readonly headers: RequestHeaders;
}

/** @param keepsRequest - Whether to keep the request as well, for the `secret` function and for handlers. */
export function writeProof(
  signature: string,
  { url = '', headers }: WebhookRequest,
  keepsRequest: boolean,
): string {
  if (!keepsRequest) return signature;
  // Keeps the kind of headers object, so that the `secret` function can read them in the same way.
  const isFetch = typeof headers.get === 'function';
  return JSON.stringify({ signature, url, isFetch, headers: harmlessHeaders(headers) });
}

/** Replaces the signature in a proof, and keeps the request. */
export function signAgain(proof: string, signature: string): string {
  if (!proof.startsWith('{')) return signature;
  const given = parse(proof);
  return JSON.stringify({ ...(isJsonObject(given) ? given : {}), signature });
}

/** Reads what {@link writeProof} has written. For anything else, the signature is empty. */
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

/** Skips headers that are not valid, because anyone may have written into the queue. */
function toFetchHeaders(texts: Readonly<Record<string, string>>): RequestHeaders {
  const headers = new Headers();
  for (const [name, value] of Object.entries(texts)) safely(() => headers.set(name, value));
  return headers;
}

function textsOf(entries: [string, unknown][]): Record<string, string> {
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
