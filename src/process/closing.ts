import { UsageError, WebhookError } from '../errors.js';
import type { WebhookResponse } from '../outcome.js';
import type { Reporter } from '../report/hooks.js';
import { findUnknownOption } from '../report/text.js';
import { nameType } from '../request/bytes.js';
import { MAX_TIMER_MS, withTimeout } from '../timing.js';
import { type ClosableServer, drain, isServer } from './draining.js';
import type { Processing } from './processing.js';

/** How `receiver.close()` ends. */
export interface CloseOptions {
  /**
   * What has the webhooks come in: what `app.listen()` or `serve()` gave, `app.server` of Fastify, the server
   * of `Bun.serve()` or `Deno.serve()`. Without it, what still comes is answered 503: stop the server first.
   */
  readonly server?: ClosableServer | undefined;
  /** How long all of it may take, in milliseconds. Default: 10 s. */
  readonly timeoutMs?: number | undefined;
}

/** What is waited for before a receiver ends. */
export type Closable = Pick<Processing, 'close' | 'recording'>;

/** The end of a receiver. */
export class Closing {
  readonly #processing: Closable;
  readonly #reporter: Reporter;
  /** The responses that are on their way: whoever closes a receiver may end the process next. */
  readonly #leaving = new Set<Promise<unknown>>();
  #isDraining = false;

  constructor(processing: Closable, reporter: Reporter) {
    this.#processing = processing;
    this.#reporter = reporter;
  }

  /** @param sent - Settles when a response has left. */
  waitFor(sent: PromiseLike<unknown>): void {
    // An adapter of somebody's own may give anything: no order is lost over it.
    const leaving = Promise.resolve(sent);
    this.#leaving.add(leaving);
    const forget = () => this.#leaving.delete(leaving);
    leaving.then(forget, forget);
  }

  async close(options: CloseOptions): Promise<void> {
    const { server, timeoutMs = 10_000 } = options;
    const unknown = findUnknownOption('close()', options, OPTIONS);
    if (unknown) this.#reporter.error(unknown, {});
    const endAt = performance.now() + timeoutMs;
    // Compared in this way round, so that what is no number counts as no time.
    const leftMs = () => (performance.now() < endAt ? endAt - performance.now() : 0);
    if (isServer(server)) {
      const onStopped = () => {
        this.#isDraining = true;
      };
      const drained = drain(server, { isOver: () => leftMs() === 0, onStopped });
      await drained.catch((error) => this.#reporter.error(error, {}));
    } else if (server !== undefined) this.#reporter.error(noServer(server), {});
    const [isIdle] = await Promise.all([this.#processing.close(leftMs()), this.#allLeft(leftMs())]);
    if (!isIdle) this.#reporter.error(closedEarly(timeoutMs), {});
    this.#reporter.flush();
  }

  async #allLeft(timeoutMs: number): Promise<void> {
    const all = Promise.allSettled(this.#leaving);
    await withTimeout(all, 'A response', Math.min(timeoutMs, MAX_TIMER_MS)).catch(() => {});
  }

  /** A response, with what follows it; while the server is stopped, it is the last of its connection. */
  finish<Body extends string | Uint8Array>(response: WebhookResponse<Body>): WebhookResponse<Body> {
    const { recording } = this.#processing;
    if (!this.#isDraining && !recording) return response;
    const { headers } = response;
    return {
      ...response,
      headers: this.#isDraining ? { ...headers, connection: 'close' } : headers,
      recorded: recording,
    };
  }
}

const OPTIONS = ['server', 'timeoutMs'] satisfies (keyof CloseOptions)[];

function noServer(given: unknown): UsageError {
  return new UsageError(
    'option_invalid',
    'close({ server }) takes the server, such as app.listen() gives it, and not the application, and was given ' +
      `${nameType(given)}. Nothing has stopped the server, so what still comes is answered 503.`,
  );
}

function closedEarly(timeoutMs: number): WebhookError {
  return new WebhookError(
    'closed_early',
    `close() has waited for ${timeoutMs} ms, and deliveries are still being processed or recorded. If the process ` +
      'ends now, the next attempt of their sender or queue takes them over once their lease has lapsed. ' +
      'Raise its timeoutMs, or have handlers stop when their signal fires.',
  );
}
