import { UsageError } from '../errors.js';
import type { WebhookResponse } from '../outcome.js';
import type { Reporter } from '../report/hooks.js';
import { MAX_TIMER_MS, withTimeout } from '../timing.js';
import { type ClosableServer, drain, isServer } from './draining.js';
import type { Idempotency } from './idempotency.js';

/** The answers that are on their way: whoever closes a receiver may end the process next. */
export class Answers {
  readonly #open = new Set<PromiseLike<unknown>>();

  add(answered: PromiseLike<unknown>): void {
    // An adapter of somebody's own may give anything: no order is lost over it.
    const leaving = Promise.resolve(answered);
    this.#open.add(leaving);
    const forget = () => this.#open.delete(leaving);
    leaving.then(forget, forget);
  }

  /** Waits until all have left, at most `timeoutMs`. */
  async left(timeoutMs: number): Promise<void> {
    const all = Promise.allSettled(this.#open);
    await withTimeout(all, 'An answer', Math.min(timeoutMs, MAX_TIMER_MS)).catch(() => {});
  }
}

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

/** The end of a receiver. */
export class Closing {
  readonly #idempotency: Idempotency;
  readonly #answers: Answers;
  readonly #reporter: Reporter;
  #isDraining = false;

  constructor(idempotency: Idempotency, answers: Answers, reporter: Reporter) {
    this.#idempotency = idempotency;
    this.#answers = answers;
    this.#reporter = reporter;
  }

  async close({ server, timeoutMs = 10_000 }: CloseOptions): Promise<void> {
    const endAt = performance.now() + timeoutMs;
    // In this way round for what is no number.
    const leftMs = () => (performance.now() < endAt ? endAt - performance.now() : 0);
    if (isServer(server)) {
      const onStopped = () => {
        this.#isDraining = true;
      };
      const drained = drain(server, { isOver: () => leftMs() === 0, onStopped });
      await drained.catch((error) => this.#reporter.error(error, {}));
    } else if (server !== undefined) this.#reporter.error(noServer(), {});
    await Promise.all([this.#idempotency.close(leftMs()), this.#answers.left(leftMs())]);
    this.#reporter.flush();
  }

  /** An answer, with what follows it; while the server is stopped, it is the last of its connection. */
  finish(reply: WebhookResponse): WebhookResponse {
    const recorded = this.#idempotency.recording;
    if (!this.#isDraining && !recorded) return reply;
    const headers = this.#isDraining ? { ...reply.headers, connection: 'close' } : reply.headers;
    return { ...reply, headers, recorded };
  }
}

function noServer(): UsageError {
  return new UsageError(
    'option_invalid',
    'close({ server }) takes the server, such as app.listen() gives it, and not the application. Nothing ' +
      'has stopped it, so what still comes is answered 503.',
  );
}
