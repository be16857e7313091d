// Version 1.2 has no metrics, and a missing name would fail before openTelemetry() can say so.
import * as api from '@opentelemetry/api';
import {
  type Context,
  context,
  type Meter,
  type MeterProvider,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import type { Rejection, Result } from '../../request/outcome.js';
import type { IdempotencyStore, Transacted } from '../../stores/store.js';
import type { ConfirmationResult, Telemetry, TracedDelivery, TracedHandler } from '../telemetry.js';
import { countedAs, endOf, eventOf, type Known, startOf, tookAs } from './attributes.js';
import { ERROR_TYPE, OTHER, SCHEMA_URL } from './conventions.js';
import { ErrorTypes } from './error-types.js';
import { Instruments } from './instruments.js';
import { ATTEMPT, HANDLER } from './names.js';
import { type Ending, endingOf, endOfRun, failedWith, OVERLOADED } from './span-end.js';
import { fromTraceparent, toTraceparent } from './traceparent.js';

const SCOPE_NAME = 'storefront-webhooks';

/** The options of `openTelemetry()`. */
export interface OpenTelemetryOptions {
  /** Receives the spans. Default: the global provider. */
  tracerProvider?: TracerProvider;
  /** Receives the metrics. Default: the global provider. */
  meterProvider?: MeterProvider;
  /**
   * The store of the receiver. A gauge shows how many of its deliveries are dead, stalled or failing.
   * Default: no gauge.
   */
  store?: IdempotencyStore;
}

/** A span that is running, and the context in which it is the active one. */
interface Running {
  readonly span: Span;
  readonly within: Context;
  /** The time of the start, by the clock of `Date.now()`. */
  readonly startTime: number;
}

/** The {@link Telemetry} of `openTelemetry()`. */
export class Watching implements Telemetry {
  readonly #options: OpenTelemetryOptions;
  readonly #tracer: Tracer;
  readonly #errors = new ErrorTypes();
  #instruments: Instruments;
  #meterProvider: MeterProvider;

  constructor(options: OpenTelemetryOptions) {
    this.#options = options;
    const { tracerProvider = trace.getTracerProvider() } = options;
    this.#tracer = tracerProvider.getTracer(SCOPE_NAME, undefined, { schemaUrl: SCHEMA_URL });
    this.#meterProvider = this.#currentMeterProvider();
    this.#instruments = new Instruments(meterOf(this.#meterProvider), options.store);
  }

  async delivery(about: TracedDelivery, run: () => Promise<Result>): Promise<void> {
    const running = this.#start(about);
    const ending = await context
      .with(running.within, run)
      .then(endingOf, (error: unknown) => failedWith(this.#errors.of(error)));
    this.#end(about, running, ending);
  }

  async handler(
    { name, attempt }: TracedHandler,
    run: () => Promise<Transacted | undefined>,
  ): Promise<void> {
    const startedAt = performance.now();
    const span = this.#tracer.startSpan(`handle ${name}`, {
      kind: SpanKind.INTERNAL,
      attributes: { [HANDLER]: name, [ATTEMPT]: attempt },
    });
    const within = trace.setSpan(context.active(), span);
    const { counts, failure } = await context
      .with(within, run)
      .then(endOfRun, (error: unknown) => ({ counts: true, failure: this.#errors.of(error) }));
    const failed = failure !== undefined && { [ERROR_TYPE]: failure };
    if (failed) span.setAttributes(failed).setStatus({ code: SpanStatusCode.ERROR });
    span.end();
    if (!counts) return;
    const attributes = { [HANDLER]: name, ...failed };
    this.#meter().took('handler', performance.now() - startedAt, attributes, within);
  }

  rejected(rejection: Rejection, startedAt: number): void {
    const ending = endingOf(rejection);
    const { verified, id, event = OTHER } = rejection;
    if (!verified) {
      // No span, because anyone can send a million of these requests.
      this.#meter().count(countedAs({ kind: 'unknown', event }, ending));
      return;
    }
    const about = {
      event,
      kind: 'invalid',
      action: 'process',
      startedAt,
      ...(id && { id }),
    } as const;
    this.#end(about, this.#start(about), ending);
  }

  failed(error: unknown): void {
    const ending = failedWith(this.#errors.of(error));
    this.#meter().count(countedAs({ kind: 'unknown', event: OTHER }, ending));
  }

  shed(): void {
    this.#meter().count(countedAs({ kind: 'unknown', event: OTHER }, OVERLOADED));
  }

  confirmed(result: ConfirmationResult): void {
    this.#meter().confirmed(result);
  }

  traceparent(): string | undefined {
    return toTraceparent(trace.getActiveSpan()?.spanContext());
  }

  #start(about: Known): Running {
    // Not the clock of `performance`, which drifts from the clock of other spans.
    const startTime = Date.now() - (performance.now() - about.startedAt);
    const sent = fromTraceparent(about.traceparent);
    const span = this.#tracer.startSpan(`${about.action} ${eventOf(about)}`, {
      kind: about.action === 'send' ? SpanKind.PRODUCER : SpanKind.CONSUMER,
      startTime,
      attributes: startOf(about),
      links: sent ? [{ context: sent }] : [],
    });
    return { span, within: trace.setSpan(context.active(), span), startTime };
  }

  #end(about: Known, { span, within, startTime }: Running, ending: Ending): void {
    const durationMs = performance.now() - about.startedAt;
    span.setAttributes(endOf(ending));
    const { error } = ending;
    if (error) span.setStatus({ code: SpanStatusCode.ERROR, message: error.message });
    span.end(startTime + durationMs);
    this.#meter().count(countedAs(about, ending), within);
    this.#meter().took(about.action, durationMs, tookAs(about, ending), within);
  }

  /**
   * Creates the instruments again if the global provider was set later: instruments of the old one record nothing.
   */
  #meter(): Instruments {
    const provider = this.#currentMeterProvider();
    if (provider !== this.#meterProvider) {
      this.#meterProvider = provider;
      this.#instruments = new Instruments(meterOf(provider), this.#options.store);
    }
    return this.#instruments;
  }

  #currentMeterProvider(): MeterProvider {
    return this.#options.meterProvider ?? api.metrics.getMeterProvider();
  }
}

function meterOf(provider: MeterProvider): Meter {
  return provider.getMeter(SCOPE_NAME, undefined, { schemaUrl: SCHEMA_URL });
}
