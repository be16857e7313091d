import { UsageError } from '../errors.js';
import type { Delivery } from '../request/delivery.js';
import { hintAtPromise } from '../request/promised.js';
import type { WhenInfo } from './handler.js';
import { ownPayload } from './own-payload.js';
import type { Route } from './router.js';

/** The handlers that a delivery is for, and the names of those that their `when` leaves out. */
export interface Chosen {
  readonly routes: readonly Route[];
  readonly skipped: readonly string[];
  readonly failure?: undefined;
}

/** Whose `when` gave no answer. */
export interface ChoiceFailed {
  readonly failure: { readonly handler: string; readonly error: unknown };
}

/** Asks the `when` of each handler of a delivery. Never throws. */
export function chooseRoutes(
  all: readonly Route[],
  delivery: Delivery,
  paidStatuses: WhenInfo['paidStatuses'],
): Chosen | ChoiceFailed {
  const routes: Route[] = [];
  const skipped: string[] = [];
  for (const route of all) {
    try {
      if (isFor(route, delivery, paidStatuses)) routes.push(route);
      else skipped.push(route.name);
    } catch (error) {
      return { failure: { handler: route.name, error } };
    }
  }
  return { routes, skipped };
}

function isFor(
  { name, when }: Route,
  { event, payload }: Delivery,
  paidStatuses: WhenInfo['paidStatuses'],
): boolean {
  if (!when) return true;
  // What it writes to is a copy: the handlers get what came.
  const answer = when(ownPayload(payload), { event, paidStatuses });
  if (typeof answer === 'boolean') return answer;
  throw new UsageError(
    'handler_invalid',
    `when of the handler "${name}" has to give true or false${hintAtPromise(answer)}.`,
  );
}
