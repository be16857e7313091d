import { WebhookError } from '../errors/errors.js';
import { watched } from '../report/telemetry.js';
import { type Delivery, seal } from '../request/delivery.js';
import { checkOwnKey, effectKey, newestKey } from '../request/key.js';
import { withTimeout } from '../runtime/timing.js';
import { isJsonObject, toSortable } from '../schemas/values.js';
import type { Claimable, IdempotencyStore } from '../stores/store.js';
import { awaitAll } from '../stores/transactions.js';
import { clonePayload, HandlerEvent, type HandlerLease } from './handler-event.js';
import {
  BUSY,
  DONE_BEFORE,
  fail,
  type Prepared,
  type RecordState,
  type Run,
  UNAVAILABLE,
} from './handler-run.js';
import type { Lease, Work } from './lease.js';
import type { AnyKey, Route } from './router.js';
import { runTransaction } from './run-transaction.js';

/**
 * Step 5: runs all handlers of a delivery that have not finished before: those with a transaction one after the other,
 * and then the others in parallel, which may read what the transactions have committed. If nothing follows the last
 * transaction, it records the delivery as done. Never rejects.
 */
export async function runHandlers(routes: readonly Route[], run: Run): Promise<Work> {
  const left = routes.filter(({ step }) => !Object.hasOwn(run.lease.steps, step));
  // Copies the payloads before any handler starts, because a handler may change its payload.
  const prepared = left.map((route, index) => prepare(route, index, run));
  const inTransaction = prepared.filter(({ route }) => route.transaction);
  const others = prepared.filter(({ route }) => !route.transaction);
  const ran: string[] = [];
  let work: Work = DONE_BEFORE;
  const add = (one: Work) => {
    ran.push(...one.ran);
    // A failure takes precedence.
    if (one.state === 'failed' || (one.state !== 'done' && work.state !== 'failed')) work = one;
  };
  for (const [index, one] of inTransaction.entries()) {
    const isRest = others.length === 0 && index === inTransaction.length - 1;
    add(await runTransaction(one, isRest && work.state === 'done', run));
  }
  if (work.state === 'done') {
    // If only one is left, it needs no record of its own: completing the delivery records it.
    const start = others.length > 1 ? runAndRecord : runRoute;
    // Starts all of them. None rejects, so awaiting them in turn waits for all.
    const started = others.map((one) => start(one, run));
    for (const running of started) add(await running);
  }
  return { ...work, ran };
}

/** How long a delivery waits for the store to say what is done. A sender waits also for the lookup of the order. */
const ASK_MS = 1_000;

/** Returns whether no handler is left to run. `false` if the store cannot say so in time. Never rejects. */
export async function isDoneBefore(
  routes: readonly Route[],
  { steps }: Lease,
  { scope, payload }: Delivery,
  store: IdempotencyStore,
): Promise<boolean> {
  const left = routes.filter(({ step }) => !Object.hasOwn(steps, step));
  if (!left.every(({ oncePer }) => oncePer)) return false;
  // Async, because `oncePer` may throw. It gets a copy: if it changes the payload, `confirm` is not affected.
  const asked = left.map(async (route) => {
    const own = route.oncePer?.(clonePayload(payload));
    // Any other field may be forged, such as the email, and the forgery would then use up the key of the delivery.
    return own === Object(payload).id && store.isDone?.(keyOfEffect(route, scope, own));
  });
  const all = await withTimeout(Promise.all(asked), '', ASK_MS).catch(() => [false]);
  return all.every((isDone) => isDone === true);
}

function prepare(route: Route, index: number, { delivery }: Run): Prepared {
  return {
    route,
    payload: index === 0 ? delivery.payload : clonePayload(delivery.payload),
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
  // The lease may have expired while an earlier handler blocked this process.
  if (lease.hasEnded()) return BUSY;
  const isHeld = run.lease.begin();
  if (isHeld !== true && !(await isHeld)) return BUSY;
  const { telemetry } = run;
  const { attempt } = run.lease;
  const { name, storedName } = route;
  const event = new HandlerEvent(run.delivery, payload, attempt, storedName, lease);
  try {
    if (telemetry)
      await watched<undefined>(
        (handle) => telemetry.handler({ name, attempt }, handle),
        async () => {
          await awaitAll(route.handler(event));
          // A step that the handler did not await belongs to its run, so telemetry sees it fail.
          for (let left = event.unawaited(); left.length; left = event.unawaited())
            await Promise.all(left);
        },
      );
    else {
      const result = await route.handler(event);
      // Only then, because each further promise of every delivery costs memory.
      if (Array.isArray(result)) await awaitAll(result);
    }
    // Steps that the handler did not await are part of it: if one fails, the delivery fails.
    for (let left = event.unawaited(); left.length; left = event.unawaited())
      await Promise.all(left);
    return { state: 'done', ran: [name] };
  } catch (error) {
    const failed = fail(error, route, run);
    // Other steps are recorded first: the failure then releases the delivery for its retry.
    for (let left = event.unawaited(); left.length; left = event.unawaited())
      await Promise.allSettled(left);
    return failed;
  }
}

/** Runs an effect under a key and a lease of its own, because several deliveries may ask for the same effect. */
function runEffect(prepared: Prepared, key: string, run: Run): Promise<Work> {
  return runUnderKey(key, prepared, run, (lease) => runHandler(prepared, lease, run));
}

/**
 * Runs a handler unless it has finished a newer state. The claim of the record is never completed, so that each
 * later delivery can read its newest state.
 */
async function runUnlessOlder(prepared: Prepared, state: RecordState, run: Run): Promise<Work> {
  const work = await runUnderKey(state.key, prepared, run, async (lease) => {
    if (isOlder(state, lease)) return { state: 'kept', ran: [] };
    const done = await runHandler(prepared, underBoth(run.lease, lease), run);
    return done.state === 'done' ? recordNewest(state, done, lease, prepared.route, run) : done;
  });
  return work.state === 'kept' ? { state: 'done', ran: work.ran } : work;
}

/** Records the newest state before the handler counts as done: otherwise an older state could run after it. */
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
    const message = 'The store could not record the newest updated_at.';
    run.onError(new WebhookError('store_unavailable', message, { cause }), name);
    return UNAVAILABLE;
  }
}

/** Runs a handler under a key of its own, in addition to the key of the delivery. */
async function runUnderKey(
  key: string,
  { route: { name } }: Prepared,
  run: Run,
  work: (lease: Lease) => Promise<Work>,
): Promise<Work> {
  const subject = toClaimable(key, seal(run.delivery));
  let running = Promise.resolve(UNAVAILABLE);
  // If this lease ends early, the delivery's lease does so too, and reports it.
  const onError = (error: WebhookError) =>
    error.code === 'store_unavailable' && run.onError(error, name);
  const terms = { keepMs: Number.POSITIVE_INFINITY, onError, retryUnrecorded: true };
  const { outcome, retryUnrecorded } = await run.idempotency.doOnce(subject, terms, (lease) => {
    running = work(lease);
    return running;
  });
  if (retryUnrecorded) run.lease.isEffectUnrecorded = true;
  switch (outcome) {
    case 'handled':
    case 'failed':
      // `failed` may be a timeout. The delivery has then timed out as well, and waits for the handler itself.
      return running;
    case 'duplicate':
      return DONE_BEFORE;
    case 'busy':
      return BUSY;
    default:
      return UNAVAILABLE;
  }
}

function toEffect(route: Route, oncePer: AnyKey, { scope, payload }: Delivery): Prepared['effect'] {
  try {
    return { key: keyOfEffect(route, scope, oncePer(payload)) };
  } catch (error) {
    return { error };
  }
}

/** The step that stores the newest `updated_at` this handler has processed for the record. */
export const UPDATED_AT = 'updated_at';

/** Returns the state that a payload claims for its record; `undefined` if it has no id or no time. */
export function stateOf(
  { storedName }: Route,
  { scope, payload }: Delivery,
): RecordState | undefined {
  if (!isJsonObject(payload) || typeof payload.id !== 'string') return undefined;
  const updatedAt = toSortable(payload.updated_at);
  if (updatedAt === undefined) return undefined;
  return { key: newestKey(scope, storedName, payload.id), updatedAt };
}

/** Whether the handler has finished a newer state. States of the same moment are not older. */
export function isOlder({ updatedAt }: RecordState, { steps }: Lease): boolean {
  const newest = steps[UPDATED_AT];
  return typeof newest === 'string' && updatedAt < newest;
}

/** Combines two leases: the lease of a delivery, which also ends when the lease of its record does. */
export function underBoth(delivery: Lease, record: Lease): HandlerLease {
  let signal: AbortSignal | undefined;
  return {
    key: delivery.key,
    steps: delivery.steps,
    get signal() {
      signal ??= AbortSignal.any([delivery.signal, record.signal]);
      return signal;
    },
    get isDone() {
      return delivery.isDone;
    },
    hasEnded: () => delivery.hasEnded() || record.hasEnded(),
    check() {
      delivery.check();
      record.check();
    },
    completeStep: (name, output) => delivery.completeStep(name, output),
  };
}

/**
 * Returns the idempotency key of an effect.
 *
 * @throws {UsageError} `key_invalid`
 */
export function keyOfEffect({ name, storedName }: Route, scope: string, key: unknown): string {
  const checked = checkOwnKey(key, `The oncePer key of the handler "${name}" has to be`);
  return effectKey(scope, storedName, checked);
}

/** Makes the claim for an effect. It has no body: the delivery that asks for it keeps the body. */
export function toClaimable(
  key: string,
  { scope, id, event, receivedAt }: Omit<Claimable, 'key' | 'body'>,
): Claimable {
  return { key, scope, id, event, receivedAt, body: undefined };
}
