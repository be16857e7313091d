import type { Delivery } from './delivery.js';
import { UsageError } from './errors.js';
import type { WebhookEvent } from './handler.js';
import type { Idempotency, Work } from './idempotency.js';
import { effectKey } from './key.js';
import type { Lease } from './lease.js';
import { createOnce, progressName } from './once.js';
import { describeError } from './printable.js';
import type { Route } from './router.js';

/** What the handlers of one delivery came to, and the names of those that ran to their end. */
export type HandlersWork = Work & { readonly ran: readonly string[] };

type Attempt = Work | { readonly state: 'skipped' };

/** Step 5: runs those handlers of a delivery that have not finished before, side by side. */
export async function runHandlers(
  routes: readonly Route[],
  delivery: Delivery,
  lease: Lease,
  idempotency: Idempotency,
  onError: (error: unknown, handler: string) => void,
): Promise<HandlersWork> {
  const left = routes.filter(({ name }) => !Object.hasOwn(lease.done, progressName(name)));
  const ran: string[] = [];

  const attempts = await Promise.all(
    left.map(async (route) => {
      const attempt = await guard(route, async () =>
        route.oncePer ? runEffect(route, route.oncePer(delivery.payload)) : run(route, lease),
      );
      if (attempt.state === 'done') ran.push(route.name);
      // The only one left needs no record: completing the delivery is its record.
      if ((attempt.state === 'done' || attempt.state === 'skipped') && left.length > 1) {
        await guard(route, () => lease.record(progressName(route.name), null));
      }
      return attempt;
    }),
  );

  const failed = attempts.find((attempt) => attempt.state === 'failed');
  if (failed) return { ...failed, ran };
  const busy = attempts.some(({ state }) => state === 'busy');
  return { state: busy ? 'busy' : 'done', ran };

  async function run({ name, handler }: Route, held: Lease): Promise<Work> {
    await handler(toEvent(name, held));
    return { state: 'done' };
  }

  /** An effect has a key, a lease and an end of its own, because other deliveries may ask for it, too. */
  async function runEffect(route: Route, key: string): Promise<Attempt> {
    if (typeof key !== 'string' || key === '') {
      throw new UsageError(
        'key_invalid',
        `oncePer of the handler "${route.name}" has to give a string that is not empty.`,
      );
    }
    const { scope, id, event, receivedAt } = delivery;
    const effect = {
      key: effectKey(scope, route.name, key),
      scope,
      id,
      event,
      receivedAt: receivedAt.getTime(),
      body: undefined,
    };
    const held = await idempotency.hold(effect, Number.POSITIVE_INFINITY, (effectLease) =>
      guard(route, () => run(route, effectLease)),
    );
    if (held.state === 'worked') return held.result;
    return { state: held.state === 'done' ? 'skipped' : 'busy' };
  }

  /** A handler may throw anything. */
  async function guard<Result>(route: Route, action: () => Promise<Result>) {
    try {
      return await action();
    } catch (error) {
      onError(error, route.name);
      return { state: 'failed' as const, error: describeError(error) };
    }
  }

  function toEvent(handler: string, held: Lease): WebhookEvent<string, unknown> {
    const { id, event, payload, issues, rawBody, scope, receivedAt, source } = delivery;
    return {
      id,
      event,
      payload,
      issues,
      rawBody,
      scope,
      attempt: lease.attempt,
      receivedAt,
      source,
      get signal() {
        return held.signal;
      },
      once: createOnce(handler, held),
    };
  }
}
