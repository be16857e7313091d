import { UsageError } from '../errors/errors.js';
import type { Delivery } from '../request/delivery.js';
import { hintAtPromise } from '../request/promised.js';
import type { WhenInfo } from './handler.js';
import { clonePayload } from './handler-event.js';
import type { Route } from './router.js';

/** The handlers that match a delivery, and the names of those that their `when` excludes. */
export interface MatchingHandlers {
  readonly routes: readonly Route[];
  readonly skipped: readonly string[];
  /** The handlers whose `when` threw or did not return a boolean. */
  readonly broken: readonly Broken[];
}

interface Broken {
  readonly route: Route;
  readonly error: unknown;
}

/** Calls the `when` of each handler of a delivery. Never throws. */
export function chooseRoutes(
  all: readonly Route[],
  delivery: Delivery,
  paidStatuses: WhenInfo['paidStatuses'],
): MatchingHandlers {
  const routes: Route[] = [];
  const skipped: string[] = [];
  const broken: Broken[] = [];
  for (const route of all) {
    try {
      if (isFor(route, delivery, paidStatuses)) routes.push(route);
      else skipped.push(route.name);
    } catch (error) {
      broken.push({ route, error });
    }
  }
  return { routes, skipped, broken };
}

/** Makes a handler that throws what its `when` threw: the delivery fails, and the other handlers still run. */
export function failing({ route: { name, storedName, step }, error }: Broken): Route {
  const handler = () => {
    throw error;
  };
  return { name, storedName, step, handler };
}

function isFor(
  { name, when }: Route,
  { event, payload }: Delivery,
  paidStatuses: WhenInfo['paidStatuses'],
): boolean {
  if (!when) return true;
  // A copy: if `when` changes the payload, the handlers are not affected.
  const answer = when(clonePayload(payload), { event, paidStatuses });
  if (typeof answer === 'boolean') return answer;
  throw new UsageError(
    'handler_invalid',
    `when of the handler "${name}" has to return true or false${hintAtPromise(answer)}.`,
  );
}
