import { OptionChecks } from '../option-checks.js';
import { writeLine } from '../report/log.js';
import { describeError } from '../report/text.js';
import { MAX_TIMER_MS } from '../timing.js';
import { type Finding, type Reconciliation, reconcileOnce } from './reconcile.js';
import {
  RECONCILE_NAMES,
  type ReconcileOptions,
  readReconcileOptions,
} from './reconcile-options.js';

/** What {@link reconcile.every} takes. */
export interface ScheduleOptions extends Omit<ReconcileOptions, 'now'> {
  /**
   * Told of each reconciliation that was done here. Without it, what does not agree is told on stderr, in one line.
   */
  onResult?: (result: Reconciliation) => unknown;
  /** Told of one that could not be done; the next one is. Default: it is told on stderr. */
  onError?: (error: unknown) => unknown;
}

/** A schedule that runs. */
export interface Schedule {
  /** Ends it, and waits for what is running, which it has end early. */
  stop(): Promise<void>;
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };
const NAMES = [
  ...RECONCILE_NAMES.filter((name) => name !== 'now'),
  'onResult',
  'onError',
] as const satisfies (keyof ScheduleOptions)[];

const checks = new OptionChecks('reconcile.every');

/** See {@link reconcile}. */
function every(interval: string, options: ScheduleOptions): Schedule {
  const [, number, unit = ''] = /^(\d+)([smh])$/.exec(interval) ?? [];
  const ms = Number(number) * (UNITS[unit] ?? Number.NaN);
  checks.check(ms > 0 && ms <= MAX_TIMER_MS, 'interval', "a text such as '15m', '30s' or '6h'");
  const { onResult = tell, onError = tellError, ...rest } = options;
  const { receiver } = readReconcileOptions(options, NAMES, checks);
  const stopping = new AbortController();
  const signal = rest.signal ? AbortSignal.any([rest.signal, stopping.signal]) : stopping.signal;
  let running = Promise.resolve();
  const run = async () => {
    try {
      // A little less: who has had it is not to find it taken by itself.
      if (await receiver.lease('reconcile', ms * 0.9)) {
        await onResult(await reconcileOnce({ ...rest, signal }));
      }
    } catch (error) {
      if (!signal.aborted) await onError(error);
    }
  };
  let isRunning = false;
  const timer = setInterval(() => {
    if (isRunning) return;
    isRunning = true;
    running = run()
      .catch(tellError)
      .finally(() => {
        isRunning = false;
      });
  }, ms);
  if (typeof timer === 'object') timer.unref?.();
  return {
    stop() {
      clearInterval(timer);
      stopping.abort(new Error('The schedule was stopped.'));
      return running;
    },
  };
}

/** Which option of recover() brings back what is missed for this reason. */
const NEEDED: Partial<Readonly<Record<NonNullable<Finding['because']>, string>>> = {
  queued: 'queued: true',
  unlogged: 'orders: true',
};

function tell({ findings, unreadable }: Reconciliation): void {
  if (unreadable > 0) {
    writeLine(
      `reconcile: ${unreadable} of the provider's orders could not be read, and were not looked at: ` +
        'they have no id, status or e-mail address. Look in the dashboard.',
      'operate.md#reconciled',
    );
  }
  if (findings.length === 0) return;
  const ids = findings
    .slice(0, 10)
    .map(({ kind, orderId, because }) => `${orderId} (${because ? `${kind}: ${because}` : kind})`);
  const needed = Object.entries(NEEDED).flatMap(([why, option]) =>
    findings.some(({ because }) => because === why) ? option : [],
  );
  const how = needed.length > 0 ? `, with ${needed.join(' and ')}` : '';
  writeLine(
    `reconcile: the provider and the shop do not agree on ${findings.length === 1 ? 'an order' : `${findings.length} orders`}: ${ids.join(', ')}` +
      `${findings.length > ids.length ? ', …' : ''}. recover() brings back what was missed${how}; ` +
      'npx storefront-webhooks dead list shows what waits for a person.',
    'operate.md#reconciled',
  );
}

function tellError(error: unknown): void {
  writeLine(
    `reconcile could not be done, and is tried again: ${describeError(error)}`,
    'operate.md#reconcile-failed',
  );
}

/**
 * Compares the provider's orders with what the shop has delivered, the provider's log and the store, and finds what
 * does not agree. Changes nothing: `recover()` brings back what was missed, and `npx storefront-webhooks dead` what
 * is dead. `reconcile.every('15m', options)` does it on a schedule.
 *
 * Rejects with a `UsageError`, `option_invalid`; with an `ApiError` where the provider refuses, or cannot
 * be asked for some minutes; and with what `delivered` throws.
 *
 * @example
 * const { findings } = await reconcile({ receiver, client, url: 'https://me.example/webhooks' });
 * for (const { kind, orderId } of findings) console.error(kind, orderId);
 */
export const reconcile: {
  (options: ReconcileOptions): Promise<Reconciliation>;
  /**
   * Does it in this process, from one interval after the call on, such as `'15m'`, `'30s'` or `'6h'`. Of many
   * processes that share a store one does it: it takes a lease for the interval. Does not keep a process alive.
   *
   * Throws a `UsageError`, `option_invalid`.
   */
  readonly every: (interval: string, options: ScheduleOptions) => Schedule;
} = Object.assign((options: ReconcileOptions) => reconcileOnce(options), { every });
