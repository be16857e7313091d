import { WebhookError } from '../../errors/errors.js';
import { TextDecoder, toHex, toUtf8 } from '../../runtime/bytes.js';
import type { ScriptCalls } from './client.js';

/** A Lua script whose reply is a text that begins with "=". */
export class Script {
  readonly #text: string;
  #sha: Promise<string> | undefined;

  constructor(text: string) {
    this.#text = text.trim();
  }

  /**
   * Runs the script by its hash, or by its text if the server does not know the hash, as after a restart or on
   * another node of a cluster.
   *
   * @returns The reply after the "=".
   */
  async run(calls: ScriptCalls, keys: string[], args: string[]): Promise<string> {
    this.#sha ??= sha1(this.#text);
    const sha = await this.#sha;
    const failed = (error: unknown) => {
      calls.failed?.(error);
      throw error;
    };
    const reply = await calls.evalSha(sha, keys, args).catch((error: unknown) => {
      if (!hasCode(error, 'NOSCRIPT')) return failed(error);
      return calls.eval(this.#text, keys, args).catch(failed);
    });
    const text = reply instanceof Uint8Array ? new TextDecoder().decode(reply) : reply;
    if (typeof text === 'string' && text.startsWith('=')) return text.slice(1);
    throw new WebhookError(
      'store_invalid',
      'The Redis client did not return the reply of a script. Check that it is not in a transaction or a pipeline.',
    );
  }
}

/** Returns whether a server rejected a call with this code, which is the first word of the message. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && error.message.startsWith(code);
}

async function sha1(text: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-1', new Uint8Array(toUtf8(text)));
  return toHex(new Uint8Array(hash));
}
