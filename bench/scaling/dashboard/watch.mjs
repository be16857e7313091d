import { AggregationTemporality, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { openTelemetry } from '../../../src/report/opentelemetry/index.ts';
import { Quantiles } from './quantiles.mjs';

const EVENT = 'messaging.destination.name';
const OUTCOME = 'storefront_webhooks.outcome';
const HANDLER = 'storefront_webhooks.handler';
const STATE = 'storefront_webhooks.state';

/** Reads what a receiver's telemetry has counted since the last read. */
class Reader extends MetricReader {
  constructor() {
    super({ aggregationTemporalitySelector: () => AggregationTemporality.DELTA });
  }

  async onForceFlush() {}
  async onShutdown() {}
}

/** Watches a receiver through its metrics, as any metrics collector does. */
export function watch(store) {
  const reader = new Reader();
  const meterProvider = new MeterProvider({ readers: [reader] });
  const durations = new Quantiles();
  const handlers = new Quantiles();

  return {
    telemetry: openTelemetry({ meterProvider, store }),

    /** Returns what has happened since the last sample, and what waits for the operator now. */
    async sample() {
      const { resourceMetrics } = await reader.collect();
      const points = new Map(
        resourceMetrics.scopeMetrics
          .flatMap(({ metrics }) => metrics)
          .map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints]),
      );
      const pointsOf = (name) => points.get(name) ?? [];
      const waiting = Object.fromEntries(
        pointsOf('storefront_webhooks.store.deliveries').map(({ attributes, value }) => [
          attributes[STATE],
          value,
        ]),
      );
      return {
        outcomes: sums(pointsOf('storefront_webhooks.deliveries'), OUTCOME),
        durations: durations.add(pointsOf('messaging.process.duration'), EVENT),
        handlers: handlers.add(pointsOf('storefront_webhooks.handler.duration'), HANDLER),
        dead: waiting.dead ?? 0,
        stalled: waiting.stalled ?? 0,
      };
    },
  };
}

function sums(points, attribute) {
  const sums = {};
  for (const { attributes, value } of points) {
    const name = attributes[attribute];
    if (value > 0) sums[name] = (sums[name] ?? 0) + value;
  }
  return sums;
}
