import { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, type ContextManager, context, ROOT_CONTEXT } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { createReceiver, memoryStore, type ReceiverOptions } from 'storefront-webhooks';
import { openTelemetry } from 'storefront-webhooks/opentelemetry';
import { afterAll, beforeAll, expect } from 'vitest';
import { SECRET } from '../support/deliver.js';

/** SDKs that keep their input. */
export function collecting() {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  });
  const reader = new PeriodicExportingMetricReader({
    exporter: new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE),
    exportIntervalMillis: 3_600_000,
  });
  const meterProvider = new MeterProvider({ readers: [reader] });

  const spans = () => exporter.getFinishedSpans();
  const metrics = async (): Promise<MetricData[]> => {
    const { resourceMetrics, errors } = await reader.collect();
    expect(errors).toEqual([]);
    return resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  };
  return {
    tracerProvider,
    meterProvider,
    spans,
    metrics,
    /** The only span with this name. */
    span(name: string): ReadableSpan {
      const [only, ...more] = spans().filter((span) => span.name === name);
      if (!only || more.length > 0) throw new Error(`Not exactly one span is named ${name}.`);
      return only;
    },
    /** The values of a metric by their attributes. */
    async points(name: string) {
      const metric = (await metrics()).find(({ descriptor }) => descriptor.name === name);
      return (metric?.dataPoints ?? []).map(({ attributes, value }) => ({ ...attributes, value }));
    },
  };
}

/** A receiver with telemetry, and the collected data. */
export function traced(options: Partial<Omit<ReceiverOptions, 'events'>> = {}) {
  const collected = collecting();
  const { store = memoryStore() } = options;
  const { tracerProvider, meterProvider } = collected;
  const telemetry = openTelemetry({ tracerProvider, meterProvider, store });
  const hooks = { onError: () => {}, onRejected: () => {} };
  const receiver = createReceiver({ secret: SECRET, hooks, telemetry, ...options, store });
  return { ...collected, telemetry, receiver };
}

/** Makes contexts follow the awaits of this file's tests, as an application's SDK does. */
export function withAsyncContext(): void {
  const current = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => current.getStore() ?? ROOT_CONTEXT,
    with: (entered, run, self, ...args) => current.run(entered, () => run.call(self, ...args)),
    bind: (_, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  beforeAll(() => void context.setGlobalContextManager(manager));
  afterAll(() => context.disable());
}
