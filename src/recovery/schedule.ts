import { writeLine } from '../errors/log.js';
import { MAX_TIMER_MS, OptionChecks } from '../errors/option-checks.js';
import { describeError } from '../errors/text.js';
import { describeWithout } from './endpoint.js';
import { type Reconciliation, reconcileOnce } from './reconcile.js';
import {
  RECONCILE_NAMES,
  type ReconcileOptions,
  readReconcileOptions,
} from './reconcile-options.js';
import { describeRemedies } from './remedies.js';

/** Options of {@link reconcile.every}. */
export interface ScheduleOptions extends Omit<ReconcileOptions, 'now'> {
  /**
   * Called with the result of each reconciliation of this process. Without it, findings are reported on
   * stderr, in one line.
   */
  onResult?: (result: Reconciliation) => unknown;
  /**
   * Called with the error of a reconciliation that failed; the next one still runs. Default: the error is
   * reported on stderr.
   */
  onError?: (error: unknown) => unknown;
}

/** A running schedule. */
export interface Schedule {
  /** Stops the schedule. Aborts the reconciliation that is running, and waits for it to end. */
  stop(): Promise<void>;
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };
const NAMES = [
  ...RECONCILE_NAMES.filter((name) => name !== 'now'),
  'onResult',
  'onError',
] as const satisfies (keyof ScheduleOptions)[];

const checks = new OptionChecks('reconcile.every');

/** Starts a schedule: see {@link reconcile}. */
function every(interval: string, options: ScheduleOptions): Schedule {
  const [, number, unit = ''] = /^(\d+)([smh])$/.exec(interval) ?? [];
  const ms = Number(number) * (UNITS[unit] ?? Number.NaN);
  checks.check(ms > 0 && ms <= MAX_TIMER_MS, 'interval', "a text such as '15m', '30s' or '6h'");
  const { onResult = tell, onError = tellError, ...rest } = options;
  const { receiver, urls } = readReconcileOptions(options, NAMES, checks);
  // A schedule of another shop, or at another interval, is another one.
  const name = ['reconcile', interval, ...urls.toSorted()].join(' ');
  const stopping = new AbortController();
  const signal = rest.signal ? AbortSignal.any([rest.signal, stopping.signal]) : stopping.signal;
  let running = Promise.resolve();
  const run = async () => {
    try {
      // A little shorter than the interval, so that this process does not find its own lease at the next run.
      if (await receiver.lease(name, ms * 0.9)) {
        await onResult(await reconcileOnce({ ...rest, signal }));
      }
    } catch (error) {
      if (!signal.aborted) await onError(error);
    }
  };
  let isRunning = false;
  const timer = setInterval(() => {
    // Its lease would keep the schedules of other processes from running.
    if (isRunning || signal.aborted) return;
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

function tell(result: Reconciliation): void {
  const { findings, unreadable } = result;
  if (unreadable > 0) {
    writeLine(
      `reconcile: ${unreadable} of the provider's orders could not be read, and were not compared: ` +
        'they have no id, status or e-mail address. Look at them in the dashboard.',
      'operate.md#reconciled',
    );
  }
  const endpoint = adviceOnEndpoint(result);
  if (findings.length === 0) {
    if (endpoint !== '') writeLine(`reconcile: ${endpoint}`, 'operate.md#reconciled');
    return;
  }
  const ids = findings
    .slice(0, 10)
    .map(({ kind, orderId, because }) => `${orderId} (${because ? `${kind}: ${because}` : kind})`);
  // With a wrong address, there is nothing to recover.
  const remedies = result.withoutEndpoint.length > 0 ? [] : findings;
  const advice = [endpoint, ...describeRemedies(remedies, toCall)].filter((one) => one !== '');
  writeLine(
    [
      `reconcile: the provider and the shop do not agree on ${findings.length === 1 ? 'an order' : `${findings.length} orders`}: ${ids.join(', ')}` +
        `${findings.length > ids.length ? ', …' : ''}.`,
      ...advice,
    ].join(' '),
    'operate.md#reconciled',
  );
}

function toCall(option?: string): string {
  return `recover()${option === undefined ? '' : ` with ${option}: true`}`;
}

/** Returns why the provider sends nothing to an address. Empty if it sends. */
function adviceOnEndpoint({ endpoint, withoutEndpoint, otherEndpoints }: Reconciliation): string {
  const mistaken = describeWithout({ without: withoutEndpoint, others: otherEndpoints });
  if (mistaken !== '')
    return endpoint === 'missing'
      ? `This compared the wrong log: ${mistaken} Correct url before anything else.`
      : `The provider sends nothing to one of the addresses: ${mistaken} If the endpoint has not moved, correct url.`;
  if (endpoint === 'disabled')
    return 'The webhook endpoint is disabled, so the provider sends nothing: recover() with apply and recreateEndpoint creates a new one.';
  return endpoint === 'missing'
    ? 'The webhook endpoint is subscribed to no event that the receiver has a handler for: add order:paid to its events in the dashboard.'
    : '';
}

function tellError(error: unknown): void {
  writeLine(
    `reconcile could not be done, and is tried again: ${describeError(error)}`,
    'operate.md#reconcile-failed',
  );
}

/**
 * Compares the provider's orders with what the shop has delivered, using the provider's log and the store,
 * and returns the differences. Changes nothing: to recover missed deliveries, use `recover()`, and for dead
 * deliveries `npx storefront-webhooks dead`. `reconcile.every('15m', options)` runs it on a schedule.
 *
 * Rejects with a `UsageError`, `option_invalid`; with an `ApiError` if the provider rejects a request, or is
 * unavailable for some minutes; and with what `delivered` throws.
 *
 * @example
 * const { findings } = await reconcile({ receiver, client, url: 'https://me.example/webhooks' });
 * for (const { kind, orderId } of findings) console.error(kind, orderId);
 */
export const reconcile: {
  (options: ReconcileOptions): Promise<Reconciliation>;
  /**
   * Runs it in this process at an interval such as `'15m'`, `'30s'` or `'6h'`, for the first time one
   * interval after the call. Of many processes that share a store, one runs it: it takes a lease for the
   * interval. Does not keep a process alive.
   *
   * Throws a `UsageError`, `option_invalid`.
   */
  readonly every: (interval: string, options: ScheduleOptions) => Schedule;
} = Object.assign((options: ReconcileOptions) => reconcileOnce(options), { every });
