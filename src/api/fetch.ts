import { TextDecoder } from '../runtime/bytes.js';
/**
 * The largest answer that is read: more than fifty log entries need, each with the largest body that a
 * receiver takes by default.
 */
export const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Reads the text of an answer; `undefined` if it is larger than {@link MAX_BYTES}, such as one that unpacks
 * without end. If `fetch` gives no stream, the response reads its text itself.
 */
export async function readText(response: FetchResponse): Promise<string | undefined> {
  const reader = response.body?.getReader();
  if (!reader) return response.text();
  const decoder = new TextDecoder();
  let text = '';
  for (let bytes = 0; ; ) {
    const { value } = await reader.read();
    if (!value) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > MAX_BYTES) {
      // Cancelling may never finish, so do not wait for it.
      reader.cancel().catch(() => {});
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}

/**
 * The part of `fetch` that the client needs. The runtime's `fetch` has it, and so has undici's with a proxy.
 * The client always passes the address as text. An implementation has to obey `redirect` and `signal`.
 */
export type Fetch = (
  url: string,
  init: {
    method: string;
    headers: Record<string, string>;
    body?: string;
    redirect: 'manual';
    signal: AbortSignal;
  },
) => Promise<FetchResponse>;

/** The part of a `Response` that the client needs. */
export interface FetchResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
  /**
   * The client reads this stream in place of `text()` if there is one, so that it can stop reading an endless
   * answer.
   */
  readonly body?: {
    getReader(): {
      read(): Promise<{ readonly value?: Uint8Array | undefined }>;
      cancel(): Promise<void>;
    };
  } | null;
}
