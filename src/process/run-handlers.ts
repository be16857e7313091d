import { WebhookError } from '../errors.js';
import { type Telemetry, watched } from '../report/telemetry.js';
import { describeError } from '../report/text.js';
import { type Delivery, seal } from '../request/delivery.js';
import { keyOfEffect, toClaimable } from './effect.js';
import { HandlerEvent, type HandlerLease } from './handler-event.js';
import type { Idempotency } from './idempotency.js';
import type { Lease, Work } from './lease.js';
import { isOlder, type RecordState, stateOf, UPDATED_AT, underBoth } from './newest.js';
import { ownPayload } from './own-payload.js';
import type { AnyKey, Route } from './router.js';

interface Run {
  readonly delivery: Delivery;
  readonly lease: Lease;
  readonly idempotency: Idempotency;
  readonly telemetry: Telemetry | undefined;
  readonly onError: (error: unknown, handler: string) => void;
}

/** Step 5: runs those handlers of a delivery that have not finished before, side by side. Never rejects. */
export async function runHandlers(routes: readonly Route[], run: Run): Promise<Work> {
  const left = routes.filter(({ step }) => !Object.hasOwn(run.lease.steps, step));
  // The only one left needs no record: completing the delivery is its record.
  const start = left.length > 1 ? runAndRecord : runRoute;
  // Before any of them starts, because each may write to what it is given.
  const prepared = left.map((route, index) => prepare(route, index, run));
  // All are started here; since none rejects, waiting for one after the other waits for all.
  const started = prepared.map((one) => start(one, run));
  const ran: string[] = [];
  let work: Work = DONE_BEFORE;
  for (const running of started) {
    const one = await running;
    ran.push(...one.ran);
    // A failure is what has to be told.
    if (one.state === 'failed' || (one.state !== 'done' && work.state !== 'failed')) work = one;
  }
  return { ...work, ran };
}

/** A handler with what is its own. */
interface Prepared {
  readonly route: Route;
  readonly payload: unknown;
  /** The key of its effect, or why `oncePer` gave none. */
  readonly effect: { readonly key: string } | { readonly error: unknown } | undefined;
  /** Of which state it must not have finished a newer one. */
  readonly state: RecordState | undefined;
}

function prepare(route: Route, index: number, { delivery }: Run): Prepared {
  return {
    route,
    payload: index === 0 ? delivery.payload : ownPayload(delivery.payload),
    effect: route.oncePer && toEffect(route, route.oncePer, delivery),
    state: route.skipOlder ? stateOf(route, delivery) : undefined,
  };
}

async function runAndRecord(prepared: Prepared, run: Run): Promise<Work> {
  const { name, step } = prepared.route;
  const work = await runRoute(prepared, run);
  if (work.state === 'done') {
    await run.lease.completeStep(step, null).catch((error) => run.onError(error, name));
  }
  return work;
}

function runRoute(prepared: Prepared, run: Run): Promise<Work> | Work {
  const { route, effect, state } = prepared;
  if (state) return runUnlessOlder(prepared, state, run);
  if (!effect) return runHandler(prepared, run.lease, run);
  return 'key' in effect ? runEffect(prepared, effect.key, run) : fail(effect.error, route, run);
}

async function runHandler(
  { route, payload }: Prepared,
  lease: HandlerLease,
  run: Run,
): Promise<Work> {
  // It may have: the handler before it may have held this process up for so long.
  if (lease.hasEnded()) return BUSY;
  const isHeld = run.lease.begin();
  if (isHeld !== true && !(await isHeld)) return BUSY;
  try {
    const { telemetry } = run;
    const { attempt } = run.lease;
    const { name, storedName } = route;
    const event = new HandlerEvent(run.delivery, payload, attempt, storedName, lease);
    if (!telemetry) await route.handler(event);
    else
      await watched(
        (handle) => telemetry.handler({ name, attempt }, handle),
        async () => route.handler(event),
      );
    return { state: 'done', ran: [name] };
  } catch (error) {
    return fail(error, route, run);
  }
}

function fail(error: unknown, { name }: Route, { onError }: Run): Work {
  onError(error, name);
  return { state: 'failed', error: describeError(error), ran: [] };
}

/** An effect has a key, a lease and an end of its own, because other deliveries may ask for it, too. */
function runEffect(prepared: Prepared, key: string, run: Run): Promise<Work> {
  return runUnderKey(key, prepared, run, (lease) => runHandler(prepared, lease, run));
}

/** The newest state is a step that is never completed: each delivery to come looks at it. */
async function runUnlessOlder(prepared: Prepared, state: RecordState, run: Run): Promise<Work> {
  const work = await runUnderKey(state.key, prepared, run, async (lease) => {
    if (isOlder(state, lease)) return { state: 'kept', ran: [] };
    const done = await runHandler(prepared, underBoth(run.lease, lease), run);
    return done.state === 'done' ? recordNewest(state, done, lease, prepared.route, run) : done;
  });
  return work.state === 'kept' ? { state: 'done', ran: work.ran } : work;
}

/** Unlike a plain handler, it is not done before that is recorded: an older state would be run after it. */
async function recordNewest(
  { updatedAt }: RecordState,
  { ran }: Work,
  lease: Lease,
  { name }: Route,
  run: Run,
): Promise<Work> {
  try {
    await lease.recordStep(UPDATED_AT, updatedAt);
    return { state: 'kept', ran };
  } catch (cause) {
    if (lease.hasEnded()) return BUSY;
    const message = 'The store could not take which state the handler has finished.';
    run.onError(new WebhookError('store_unavailable', message, { cause }), name);
    return UNAVAILABLE;
  }
}

/** Has a handler work under a key of its own, beside that of the delivery. */
async function runUnderKey(
  key: string,
  { route: { name } }: Prepared,
  run: Run,
  work: (lease: Lease) => Promise<Work>,
): Promise<Work> {
  const subject = toClaimable(key, seal(run.delivery));
  let running = Promise.resolve(UNAVAILABLE);
  // Where its lease ends early, so does the delivery's, and is told there.
  const onError = (error: WebhookError) =>
    error.code === 'store_unavailable' && run.onError(error, name);
  const terms = { keepMs: Number.POSITIVE_INFINITY, onError };
  const { outcome } = await run.idempotency.doOnce(subject, terms, (lease) => {
    running = work(lease);
    return running;
  });
  switch (outcome) {
    case 'handled':
    case 'failed':
      // Where its time is up, so is the delivery's, which then ends when the handler does.
      return running;
    case 'duplicate':
      return DONE_BEFORE;
    case 'busy':
      return BUSY;
    default:
      return UNAVAILABLE;
  }
}

const DONE_BEFORE: Work = { state: 'done', ran: [] };
const BUSY: Work = { state: 'busy', ran: [] };
const UNAVAILABLE: Work = { state: 'unavailable', ran: [] };

function toEffect(route: Route, oncePer: AnyKey, { scope, payload }: Delivery): Prepared['effect'] {
  try {
    return { key: keyOfEffect(route, scope, oncePer(payload)) };
  } catch (error) {
    return { error };
  }
}
