import { WebhookError } from '../errors/errors.js';
import { MAX_TIMER_MS } from '../errors/option-checks.js';
import { refuseUnknownOption } from '../errors/text.js';
import type { Reporter } from '../report/hooks.js';
import type { WebhookResponse } from '../request/outcome.js';
import { LateWork } from '../runtime/late-work.js';
import { withTimeout } from '../runtime/timing.js';
import { drain } from './own-process.js';
import type { Processing } from './process-delivery.js';
import type { ClosableServer } from './server-drain.js';

/** The options of `receiver.close()`. */
export interface CloseOptions {
  /**
   * The server that receives the webhooks: from `app.listen()` or `serve()`, `app.server` of Fastify, or the
   * server of `Bun.serve()` or `Deno.serve()`. Without it, deliveries that still arrive are answered 503: stop the
   * server first.
   */
  readonly server?: ClosableServer | undefined;
  /** The longest that closing may take, in milliseconds. Default: 10 s. */
  readonly timeoutMs?: number | undefined;
}

/** The work that a receiver waits for before it ends. */
export type Closable = Pick<Processing, 'close' | 'recording'>;

/** Answers pending requests and waits for running handlers. */
export class Shutdown {
  readonly #processing: Closable;
  readonly #reporter: Reporter;
  /** The responses that are being sent: after `close()`, the program may end the process. */
  readonly #leaving = new LateWork();
  #isDraining = false;
  #begun: AbortController | undefined;

  constructor(processing: Closable, reporter: Reporter) {
    this.#processing = processing;
    this.#reporter = reporter;
  }

  /** Fires when {@link close} is called. Created on first use. */
  get signal(): AbortSignal {
    this.#begun ??= new AbortController();
    return this.#begun.signal;
  }

  /** @param sent - Settles when a response has left. */
  waitFor(sent: PromiseLike<unknown>): void {
    // An adapter of the user may pass anything: no order must be lost because of it.
    this.#leaving.add(Promise.resolve(sent).catch(() => {}));
  }

  async close(options: CloseOptions): Promise<void> {
    const { server, timeoutMs = 10_000 } = options;
    this.#begun ??= new AbortController();
    this.#begun.abort();
    try {
      refuseUnknownOption('close()', options, OPTIONS);
    } catch (error) {
      this.#reporter.error(error, {});
    }
    const endAt = performance.now() + timeoutMs;
    // Compare first: if the time limit is not a number, no time is left.
    const leftMs = () => (performance.now() < endAt ? endAt - performance.now() : 0);
    if (server !== undefined) {
      const onStopped = () => {
        this.#isDraining = true;
      };
      const drained = drain(server, { isOver: () => leftMs() === 0, onStopped });
      await drained.catch((error) => this.#reporter.error(error, {}));
    }
    const [isIdle] = await Promise.all([this.#processing.close(leftMs()), this.#allLeft(leftMs())]);
    if (!isIdle) this.#reporter.error(closedEarly(timeoutMs), {});
    this.#reporter.flush();
  }

  #allLeft(timeoutMs: number): Promise<void> {
    const all = Promise.resolve(this.#leaving.ended);
    return withTimeout(all, '', Math.min(timeoutMs, MAX_TIMER_MS)).catch(() => {});
  }

  /** Adds the late work to a response. While the server stops, also closes the connection after the response. */
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

function closedEarly(timeoutMs: number): WebhookError {
  return new WebhookError(
    'closed_early',
    `close() has waited for ${timeoutMs} ms, and work is still running. If the process ends now, a retry takes it over ` +
      'after its lease has expired. Raise timeoutMs, or make handlers stop when their signal fires.',
  );
}
