import type { Fixture } from 'storefront-webhooks/testing';
import { isUntrusted } from '../runtime/certificates.js';
import type { DeliveryReport } from './delivery.js';

/** Why an answer is not the expected one, and what to change. */
export type Explained = Pick<DeliveryReport, 'cause' | 'fix'>;

interface Answered {
  /** 0 if there was no answer. */
  readonly status: number;
  readonly outcome: string;
  readonly event: string;
  /** Why there was no answer. */
  readonly error: string;
  readonly expect: Fixture['expect'];
  /** The type and the title of an answer that is not a receiver's. */
  readonly page?: string | undefined;
  /** Whether the delivery was made to be rejected. */
  readonly isForged?: boolean;
  /** Whether the command changed the body before it signed it. */
  readonly isChanged?: boolean;
}

const ACCEPTED_FORGERY: Explained = {
  cause:
    'The server accepted a delivery that is not genuine: anyone who knows the address can send one.',
  fix: 'Verify the signature over the raw body before you do anything else with it.',
};

/** The change that helps if Node does not trust the certificate of a server. */
export const TRUST =
  'Give the server a certificate for this host name that Node trusts. If an authority of your own has issued it, run the command with NODE_EXTRA_CA_CERTS=ca.pem in front.';

/** Explains an answer by what its sender can see. A receiver does not report to senders why it rejects a delivery. */
export function explain({ page, isForged = false, ...answered }: Answered): Explained {
  const { status } = answered;
  // A page of HTML answers on every path, and accepts nothing.
  if (isForged && status >= 200 && status < 300 && !page?.startsWith('text/html'))
    return ACCEPTED_FORGERY;
  const isRedirect = status >= 300 && status < 400;
  if (page === undefined || isRedirect) return explainReceiver(answered);
  const [cause, fix] = (!RECEIVERS_OWN.has(status) && CAUSES[status]) || [];
  const notOurs = `The answer is not from the receiver: ${status} ${page}.`;
  return {
    cause: cause === undefined ? notOurs : `${notOurs} ${cause}`,
    fix:
      fix ?? 'Look for what answers before the receiver: a login page, a proxy, or another route.',
  };
}

function explainReceiver({
  status,
  outcome,
  event,
  error,
  expect,
  isChanged = false,
}: Answered): Explained {
  if (status >= 200 && status < 300 && expect) {
    const cause = `The fixture expects ${[expect.status, expect.outcome].filter(Boolean).join(' ')}.`;
    // An empty store would not reject the delivery either.
    if (outcome === 'duplicate' && expect.outcome !== 'rejected') {
      return {
        cause: `${cause} The store of the server has this delivery, or its order, as done.`,
        fix: 'Start the server with an empty store for tests, or change the fixture to expect the outcome duplicate.',
      };
    }
    return {
      cause,
      ...(outcome === 'ignored' && {
        fix: `Register a handler: receiver.${event === 'order:paid' ? 'onPaid(…)' : `on('${event}', …)`}, or change the fixture to expect the outcome ignored.`,
      }),
    };
  }
  if (status >= 200 && status < 300) return ACCEPTED_FORGERY;
  const [tooLong] = /did not answer within \d+ ms/.exec(error) ?? [];
  if (tooLong !== undefined) {
    return {
      cause: `The server ${tooLong}. A provider does not wait longer.`,
      fix: 'Move long work to a queue: docs/queues.md. To wait longer here, add --timeout 60000.',
    };
  }
  if (status === 0) {
    return {
      cause: error,
      fix: isUntrusted(error) ? TRUST : 'Start the server, or give the address that it listens on.',
    };
  }
  if (outcome === 'busy') {
    return {
      cause: 'The same delivery is still being handled, or the process that handled it has died.',
      fix: 'Send the delivery again in ten seconds: by then, the lease of a dead process has expired.',
    };
  }
  const [cause, ofStatus] = CAUSES[status] ?? [];
  const mayContradict = isChanged && status === 422 && ofStatus !== undefined;
  const fix = mayContradict ? `${CONTRADICTION} ${ofStatus}` : ofStatus;
  if (cause !== undefined) return { cause, ...(fix !== undefined && { fix }) };
  if (status >= 300 && status < 400) {
    return {
      cause: 'The server redirects, and no provider follows a redirect.',
      fix: 'Give the address that it redirects to, with the same host and the same slash at the end.',
    };
  }
  return { cause: `The server answered ${status}, so a provider retries the delivery.` };
}

/** Precedes the advice to allow the body: a receiver that allows 51 for order:paid delivers orders that are charged back. */
const CONTRADICTION =
  'The answer is right if --set or --patch made the body contradict its event, as the status 51 contradicts order:paid.';

/** The statuses whose cause below holds only if the receiver has answered. */
const RECEIVERS_OWN: ReadonlySet<number> = new Set([400, 401, 422, 500, 503]);

const CAUSES: Readonly<Record<number, readonly [cause: string, fix?: string]>> = {
  400: [
    'The receiver found no event in the headers that it reads, or two; or the body is cut short, or is not JSON in UTF-8. The answer says which.',
    "If the event is missing, set the receiver's headerPrefix to the provider's brand, or send with --header-prefix. If it is the body, send all of it, in UTF-8 without a byte order mark.",
  ],
  401: [
    'The signature does not match: another secret, another headerPrefix, or a body that was changed before it was verified.',
    'The server reports on stderr which of them it is. Start the receiver with the secret that this command signs with, or send with the header prefix of the receiver (--header-prefix). If both are the same, run storefront-webhooks doctor --listen',
  ],
  404: [
    'The server has no such path.',
    'Give the path at which the receiver is mounted, such as /webhooks.',
  ],
  405: ['The path does not take POST.', 'Mount the receiver with app.post() or app.use().'],
  408: ['The body did not arrive in time.'],
  413: [
    'The body is larger than the limit of the receiver, or of a proxy before it.',
    'Raise the limit.',
  ],
  415: [
    'A body parser or proxy before the receiver does not accept this content type.',
    'Mount the receiver before body parsers.',
  ],
  422: [
    'The delivery is genuine, but its payload or its event is not valid: the answer names the fields.',
    'If the provider does send this, allow it with the option that the receiver names on stderr.',
  ],
  500: [
    'A handler threw, the receiver could not be created, or it is mounted behind a body parser.',
    'The server has logged the error, and where it happened, on stderr.',
  ],
  502: ['A proxy before the server could not reach it.', 'Check that the server is running.'],
  503: [
    'The receiver cannot accept deliveries now: its store is down, or it is shutting down.',
    'Send the delivery again. If the answer stays the same, the server has logged the reason on stderr.',
  ],
};
