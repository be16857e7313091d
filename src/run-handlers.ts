import type { Delivery } from './delivery.js';
import { UsageError } from './errors.js';
import { HandlerEvent } from './handler-event.js';
import type { Idempotency, Work } from './idempotency.js';
import { effectKey } from './key.js';
import type { Lease } from './lease.js';
import { describeError } from './printable.js';
import type { AnyKey, Route } from './router.js';
import { type Telemetry, watched } from './telemetry.js';

/** What the handlers of one delivery came to, and the names of those that ran to their end. */
export type HandlersWork = Work & { readonly ran: readonly string[] };

/** What one handler came to; `skipped` is an effect that another delivery has had. */
type RouteWork = Work | { readonly state: 'skipped' };

interface Run {
  readonly delivery: Delivery;
  readonly lease: Lease;
  readonly idempotency: Idempotency;
  readonly telemetry: Telemetry | undefined;
  readonly onError: (error: unknown, handler: string) => void;
}

/** Step 5: runs those handlers of a delivery that have not finished before, side by side. Never rejects. */
export async function runHandlers(routes: readonly Route[], run: Run): Promise<HandlersWork> {
  const left = routes.filter(({ progress }) => !Object.hasOwn(run.lease.done, progress));
  // The only one left needs no record: completing the delivery is its record.
  const start = left.length > 1 ? runAndRecord : runRoute;
  // All are started here; since none rejects, waiting for one after the other waits for all.
  const started = left.map((route) => ({ name: route.name, running: start(route, run) }));
  const ran: string[] = [];
  let work: Work = { state: 'done' };
  for (const { name, running } of started) {
    const result = await running;
    if (result.state === 'done') ran.push(name);
    else if (result.state === 'failed') work = result;
    else if (result.state !== 'skipped' && work.state !== 'failed') work = result;
  }
  return { ...work, ran };
}

async function runAndRecord(route: Route, run: Run): Promise<RouteWork> {
  const result = await runRoute(route, run);
  if (result.state === 'done' || result.state === 'skipped') {
    await run.lease.record(route.progress, null).catch((error) => run.onError(error, route.name));
  }
  return result;
}

function runRoute(route: Route, run: Run): Promise<RouteWork> {
  return route.oncePer ? runEffect(route, route.oncePer, run) : runHandler(route, run.lease, run);
}

async function runHandler(route: Route, lease: Lease, run: Run): Promise<Work> {
  // As where the handler before it has held this process up for so long.
  if (lease.hasEnded()) return { state: 'busy' };
  try {
    const { telemetry } = run;
    const { attempt } = run.lease;
    const { name } = route;
    await watched(
      telemetry && ((handle) => telemetry.handler({ name, attempt }, handle)),
      async () => route.handler(new HandlerEvent(run.delivery, attempt, name, lease)),
    );
    return { state: 'done' };
  } catch (error) {
    return fail(error, route, run);
  }
}

function fail(error: unknown, { name }: Route, { onError }: Run): Work {
  onError(error, name);
  return { state: 'failed', error: describeError(error) };
}

/** An effect has a key, a lease and an end of its own, because other deliveries may ask for it, too. */
async function runEffect(route: Route, oncePer: AnyKey, run: Run): Promise<RouteWork> {
  const { scope, id, event, payload, receivedAt } = run.delivery;
  let key: string;
  try {
    key = effectKey(scope, route.name, checkKey(oncePer(payload), route.name));
  } catch (error) {
    return fail(error, route, run);
  }
  const effect = { key, scope, id, event, receivedAt: receivedAt.getTime(), body: undefined };
  let running: Promise<Work> = Promise.resolve({ state: 'unavailable' });
  const held = await run.idempotency.hold(effect, { keepMs: Number.POSITIVE_INFINITY }, (lease) => {
    running = runHandler(route, lease, run);
    return running;
  });
  switch (held.state) {
    case 'worked':
      return held.result;
    case 'done':
      return { state: 'skipped' };
    case 'timeout':
      // The delivery's own time is up as well. It ends when its handler does.
      return running;
    case 'busy':
    case 'lost':
      return { state: 'busy' };
    case 'unavailable':
      run.onError(held.error, route.name);
      return { state: 'unavailable' };
    case 'dead':
    case 'closing':
      return { state: 'unavailable' };
  }
}

function checkKey(key: unknown, handler: string): string {
  if (typeof key === 'string' && key !== '') return key;
  throw new UsageError(
    'key_invalid',
    `oncePer of the handler "${handler}" has to give a string that is not empty, such as order.id.`,
  );
}
