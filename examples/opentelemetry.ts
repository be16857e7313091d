/**
 * A shop that prints the spans and the metrics of its deliveries. In your own program, set up an SDK, such as
 * `@opentelemetry/sdk-node`, instead of the functions at the end.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Attributes,
  type Context,
  type ContextManager,
  context,
  metrics,
  ROOT_CONTEXT,
  trace,
} from '@opentelemetry/api';
import {
  DataPointType,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import { createReceiver, memoryStore, type Order } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { openTelemetry } from 'storefront-webhooks/opentelemetry';

const spans = new BasicTracerProvider({
  spanProcessors: [new SimpleSpanProcessor(spanPrinter())],
});
const meters = new MeterProvider({
  readers: [
    new PeriodicExportingMetricReader({ exporter: metricPrinter(), exportIntervalMillis: 10_000 }),
  ],
});
context.setGlobalContextManager(asyncContext());
trace.setGlobalTracerProvider(spans);
metrics.setGlobalMeterProvider(meters);

const store = memoryStore();

const receiver = createReceiver({
  secret: process.env.WEBHOOK_SECRET,
  store,
  telemetry: openTelemetry({ store }),
})
  .onPaid(({ payload: order }) => deliver(order))
  .on('product:out_of_stock', ({ payload }) => console.log(`Out of stock: ${payload.title}`));

// Spans that a handler starts are inside the handler's own span.
async function deliver(order: Order) {
  await trace.getTracer('shop').startActiveSpan('mail the buyer', async (span) => {
    await sleep(20);
    span.end();
  });
  console.log(`Delivered order ${order.id}`);
}

const server = createServer(toNodeHandler(receiver));

server.listen(process.env.PORT ?? 3000, () => {
  const { port } = server.address() as AddressInfo;
  console.log(`Listening on http://localhost:${port}/webhooks`);
});

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, async () => {
    await receiver.close({ server });
    await Promise.all([spans.shutdown(), meters.shutdown()]);
  });
}

/** Keeps the active span across awaits. */
function asyncContext(): ContextManager {
  const current = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => current.getStore() ?? ROOT_CONTEXT,
    with: (entered, run, self, ...args) => current.run(entered, () => run.call(self, ...args)),
    bind: (_, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}

/** Prints each span with its inner spans, when the outermost span has ended. */
function spanPrinter(): SpanExporter {
  const inside = new Map<string, ReadableSpan[]>();
  const print = ({ name, duration, attributes, status }: ReadableSpan, depth: number) => {
    const title = `${'  '.repeat(depth)}${name}`.padEnd(36);
    const [seconds, nanoseconds] = duration;
    const took = `${(seconds * 1e3 + nanoseconds / 1e6).toFixed(1)} ms`.padStart(9);
    console.log(`span    ${title}${took}  ${list(attributes)} ${status.message ?? ''}`.trimEnd());
  };
  const printAll = (span: ReadableSpan, depth: number) => {
    print(span, depth);
    const { spanId } = span.spanContext();
    for (const child of inside.get(spanId) ?? []) printAll(child, depth + 1);
    inside.delete(spanId);
  };
  return {
    export(ended, done) {
      for (const span of ended) {
        const parent = span.parentSpanContext?.spanId;
        if (parent === undefined) printAll(span, 0);
        else inside.set(parent, [...(inside.get(parent) ?? []), span]);
      }
      done({ code: 0 });
    },
    shutdown: async () => {},
  };
}

/** Prints all metrics if one of them has changed. */
function metricPrinter(): PushMetricExporter {
  let last = '';
  return {
    export({ scopeMetrics }, done) {
      const text = scopeMetrics.flatMap(({ metrics }) => metrics.flatMap(linesOf)).join('\n');
      if (text !== last) console.log(text);
      last = text;
      done({ code: 0 });
    },
    forceFlush: async () => {},
    shutdown: async () => {},
  };
}

function linesOf({ descriptor, ...metric }: MetricData): string[] {
  const line = (value: string, attributes: Attributes) =>
    `metric  ${descriptor.name.padEnd(36)}${value.padStart(15)}  ${list(attributes)}`;
  return metric.dataPointType === DataPointType.HISTOGRAM
    ? metric.dataPoints.map(({ value: { count, sum = 0 }, attributes }) =>
        line(`${count} × ${((sum / count) * 1000).toFixed(1)} ms`, attributes),
      )
    : metric.dataPoints.map(({ value, attributes }) => line(`${value}`, attributes));
}

/** Formats the attributes in short, without those that are always the same. */
function list(attributes: Attributes): string {
  return Object.entries(attributes)
    .filter(([name]) => !/^messaging\.(system|operation)/.test(name))
    .map(([name, value]) => `${name.replace(/^(messaging|storefront_webhooks)\./, '')}=${value}`)
    .join(' ');
}
