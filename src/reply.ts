import type { Dispatched, Outcome, Rejection, Result } from './outcome.js';

/** The answer to a request, free of any framework. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. Holds no secret, no signature, no payload data and nothing of an error. */
  readonly body: string;
  readonly outcome: Outcome;
  /** Names of the handlers that ran to their end; not part of the answer. */
  readonly ran: readonly string[];
  /**
   * Settles when the store has taken what it could not take before the answer: to be given to `waitUntil`,
   * where a platform ends what nobody waits for.
   */
  readonly recorded?: Promise<unknown> | undefined;
}

type Fixed = Pick<Reply, 'status' | 'body'>;

const ANSWERS = {
  handled: fixed(200, 'handled', 'Handled.'),
  parked: fixed(200, 'parked', 'Kept for a person to look at.'),
  duplicate: fixed(200, 'duplicate', 'Done before.'),
  ignored: fixed(200, 'ignored', 'Nobody here handles this event.'),
  queued: fixed(200, 'queued', 'Queued.'),
  failed: fixed(500, 'failed', 'The webhook could not be handled. Send it again.'),
  busy: fixed(503, 'busy', 'This delivery is being handled. Ask again later.'),
  unavailable: fixed(503, 'unavailable', 'Not available now. Send it again later.'),
} satisfies Record<Dispatched['outcome'], Fixed>;

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' };

/** Step 7: the answer to a verified delivery, or to a refused one. */
export function replyTo(result: Result): Reply {
  if (result.outcome === 'rejected') return replyToRejection(result);
  const { outcome, ran, retryAfterMs = 1000 } = result;
  const { status, body } = ANSWERS[outcome];
  const retryAfter = String(Math.max(1, Math.ceil(retryAfterMs / 1000)));
  const headers = status === 503 ? { ...JSON_HEADERS, 'retry-after': retryAfter } : JSON_HEADERS;
  return { status, headers, body, outcome, ran };
}

function replyToRejection({ status, message, code, issues }: Rejection): Reply {
  const fields = new Set(
    issues.map(({ path, foreign }) => (foreign ? '' : path.split('.')[0]) || 'payload'),
  );
  const errors = Array.from(fields, (field) => `${field} is not as expected`);
  return {
    ...fixed(status, 'rejected', message, errors),
    headers: code === 'method_not_allowed' ? { ...JSON_HEADERS, allow: 'POST' } : JSON_HEADERS,
    outcome: 'rejected',
    ran: [],
  };
}

function fixed(
  status: number,
  outcome: Outcome,
  message: string,
  errors: readonly string[] = [],
): Fixed {
  return {
    status,
    body: JSON.stringify(errors.length > 0 ? { message, outcome, errors } : { message, outcome }),
  };
}
