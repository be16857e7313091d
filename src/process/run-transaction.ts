import { WebhookError } from '../errors/errors.js';
import { describeError } from '../errors/text.js';
import { watched } from '../report/telemetry.js';
import { withoutData } from '../stores/guard.js';
import type { Transacted } from '../stores/store.js';
import { clonePayload, HandlerEvent, type HandlerLease } from './handler-event.js';
import { BUSY, fail, type Prepared, type Run, UNAVAILABLE } from './handler-run.js';
import type { Lease, Work } from './lease.js';
import { failedWork } from './settled.js';

/**
 * Runs a handler in a transaction of the store. Never rejects.
 *
 * @param isRest - All other handlers are done, so the transaction records that the delivery is.
 */
export async function runTransaction(
  { route, payload, effect }: Prepared,
  isRest: boolean,
  run: Run,
): Promise<Work> {
  const { lease, delivery, transactions, telemetry, keepMs } = run;
  const { name, storedName, step } = route;
  const { attempt } = lease;
  if (effect && 'error' in effect) return fail(effect.error, route, run);
  if (!transactions || lease.hasEnded()) return BUSY;
  const terms = { effect: effect?.key, record: isRest ? { keepMs } : { step } };
  const held = under(lease, effect?.key ?? lease.key);
  let hasBegun = false;
  const work = (tx: unknown) => {
    hasBegun = true;
    const within = { tx, refuseStep: transactions.refuseStep };
    return route.handler(
      // A copy for each time that it runs.
      new HandlerEvent(delivery, clonePayload(payload), attempt, storedName, held, within),
    );
  };
  const unavailable = (error: unknown) => {
    const message = 'The store could not run the transaction.';
    const cause = withoutData(error);
    run.onError(new WebhookError('store_unavailable', message, { cause }), name);
    return UNAVAILABLE;
  };
  const transact = () => lease.runInTransaction(transactions, terms, work);
  try {
    const result = await watched<Transacted>(
      telemetry && ((handle) => telemetry.handler({ name, attempt }, handle)),
      transact,
    );
    switch (result.state) {
      case 'done':
      case 'known':
        return { state: isRest ? 'committed' : 'done', ran: result.state === 'done' ? [name] : [] };
      case 'unavailable':
        return unavailable(result.cause);
      default:
        return BUSY;
    }
  } catch (error) {
    const isLate = lease.hasEnded();
    // A handler that has not begun has not failed: the delivery must not die of its last attempt.
    if (!hasBegun) return isLate ? BUSY : unavailable(error);
    // The end of the lease is reported by itself.
    return isLate ? failedWork(describeError(error)) : fail(error, route, run);
  }
}

/** The lease of a delivery, under the key of an effect. */
function under(lease: Lease, key: string): HandlerLease {
  return {
    key,
    steps: lease.steps,
    get signal() {
      return lease.signal;
    },
    hasEnded: () => lease.hasEnded(),
    check: () => lease.check(),
    completeStep: (name, output) => lease.completeStep(name, output),
  };
}
