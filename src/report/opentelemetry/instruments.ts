import type { Attributes, Context, Counter, Histogram, Meter } from '@opentelemetry/api';
import type { IdempotencyStore } from '../../stores/store.js';
import type { ConfirmationResult } from '../telemetry.js';
import * as conventions from './conventions.js';
import { CONFIRMATION, CONFIRMATIONS, DELIVERIES, HANDLER_DURATION } from './names.js';
import { observeStore } from './store-gauge.js';

const { CLIENT_OPERATION_DURATION, DURATION_BOUNDARIES, PROCESS_DURATION } = conventions;

/** The metrics of one meter. */
export class Instruments {
  readonly #deliveries: Counter;
  readonly #confirmations: Counter;
  readonly #durations: Readonly<Record<'process' | 'send' | 'handler', Histogram>>;

  constructor(meter: Meter, store: IdempotencyStore | undefined) {
    this.#deliveries = meter.createCounter(DELIVERIES, {
      unit: '{delivery}',
      description: 'Requests and jobs that have ended, by their outcome.',
    });
    this.#confirmations = meter.createCounter(CONFIRMATIONS, {
      unit: '{confirmation}',
      description: 'Orders looked up before their handlers ran, by the result.',
    });
    const histogram = (name: string, description: string, boundaries = DURATION_BOUNDARIES) =>
      meter.createHistogram(name, {
        unit: 's',
        description,
        advice: { explicitBucketBoundaries: [...boundaries] },
      });
    this.#durations = {
      process: histogram(PROCESS_DURATION, 'Duration of processing operation.'),
      send: histogram(
        CLIENT_OPERATION_DURATION,
        'Duration of messaging operation initiated by a producer or consumer client.',
      ),
      // Up to the default time limit of handlers.
      handler: histogram(HANDLER_DURATION, 'Duration of one run of a handler.', [
        ...DURATION_BOUNDARIES,
        30,
        60,
      ]),
    };
    if (store) observeStore(meter, store);
  }

  count(attributes: Attributes, within?: Context): void {
    this.#deliveries.add(1, attributes, within);
  }

  confirmed(result: ConfirmationResult): void {
    this.#confirmations.add(1, { [CONFIRMATION]: result });
  }

  took(
    what: 'process' | 'send' | 'handler',
    durationMs: number,
    attributes: Attributes,
    within: Context,
  ): void {
    this.#durations[what].record(durationMs / 1000, attributes, within);
  }
}
