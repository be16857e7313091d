import { type Dispatched, type Outcome, Rejection } from './outcome.js';
import { printable } from './printable.js';

/** The answer to a request, free of any framework. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. Holds no secret, no signature, no payload data and nothing of an error. */
  readonly body: string;
  readonly outcome: Outcome;
  /** Names of the handlers that ran to their end; not part of the answer. */
  readonly ran: readonly string[];
}

const ANSWERS = {
  handled: [200, 'Handled.'],
  parked: [200, 'Kept for a person to look at.'],
  duplicate: [200, 'Done before.'],
  ignored: [200, 'Nobody here handles this event.'],
  queued: [200, 'Queued.'],
  failed: [500, 'The webhook could not be handled. Send it again.'],
  busy: [503, 'This delivery is being handled. Ask again later.'],
  unavailable: [503, 'Not available now. Send it again later.'],
} as const satisfies Record<Dispatched['outcome'], readonly [number, string]>;

const MAX_ERRORS = 20;

/** Step 7: the answer to a verified delivery, or to a refused one. */
export function replyTo(result: Dispatched | Rejection): Reply {
  if (result instanceof Rejection) return replyToRejection(result);
  const { outcome, ran, retryAfterMs } = result;
  const [status, message] = ANSWERS[outcome];
  return {
    status,
    headers:
      status === 503
        ? { ...JSON_HEADERS, 'retry-after': retryAfterSeconds(retryAfterMs) }
        : JSON_HEADERS,
    body: JSON.stringify({ message, outcome }),
    outcome,
    ran,
  };
}

function replyToRejection({ status, message, code, issues }: Rejection): Reply {
  const outcome = 'rejected';
  // Only which field it is: messages of a user's schema may quote the payload.
  const fields = new Set(issues.map(({ path }) => printable(path.split('.')[0] || 'payload', 60)));
  const errors = Array.from(fields, (field) => `${field} is not as expected`).slice(0, MAX_ERRORS);
  return {
    status,
    headers: code === 'method_not_allowed' ? { ...JSON_HEADERS, allow: 'POST' } : JSON_HEADERS,
    body: JSON.stringify(errors.length > 0 ? { message, outcome, errors } : { message, outcome }),
    outcome,
    ran: [],
  };
}

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' };

function retryAfterSeconds(ms = 1000): string {
  return String(Math.max(1, Math.ceil(ms / 1000)));
}
