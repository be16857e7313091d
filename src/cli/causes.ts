import type { Fixture } from 'storefront-webhooks/testing';
import type { DeliveryReport } from './delivery.js';

/** Why an answer is not what it should be, and what to change. */
export type Explained = Pick<DeliveryReport, 'cause' | 'fix'>;

interface Answered {
  /** 0 where there was no answer. */
  readonly status: number;
  readonly outcome: string;
  readonly event: string;
  /** Why there was no answer. */
  readonly error: string;
  readonly expect: Fixture['expect'];
}

/** What can be told of an answer by its status alone: what a receiver refuses is not said to its sender in full. */
export function explain({ status, outcome, event, error, expect }: Answered): Explained {
  if (status >= 200 && status < 300 && expect) {
    return {
      cause: `Its file expects ${[expect.status, expect.outcome].filter(Boolean).join(' ')}.`,
      ...(outcome === 'ignored' && {
        fix: `Register a handler: receiver.on('${event}', …), or expect that nobody handles it.`,
      }),
    };
  }
  if (status >= 200 && status < 300) {
    return {
      cause: 'It was taken, though it is not genuine: whoever knows the address can do the same.',
      fix: 'Verify the signature over the raw body, before anything else is done with it.',
    };
  }
  const [tooLong] = /did not answer within \d+ ms/.exec(error) ?? [];
  if (tooLong !== undefined) {
    return {
      cause: `The server ${tooLong}, and a provider waits no longer.`,
      fix: 'Hand what takes long to a queue: docs/queues.md. To wait for it here: --timeout 60000.',
    };
  }
  if (status === 0) {
    return {
      cause: error,
      fix: 'Start the server, or give the address at which it listens.',
    };
  }
  if (outcome === 'busy') {
    return {
      cause: 'The same delivery is being handled, or the process that handled it has died.',
      fix: 'Send it again in ten seconds: by then, the lease of a process that died has lapsed.',
    };
  }
  const [cause, fix] = CAUSES[status] ?? [];
  if (cause !== undefined) return { cause, ...(fix !== undefined && { fix }) };
  if (status >= 300 && status < 400) {
    return {
      cause: 'It leads elsewhere, and no provider follows.',
      fix: 'Give the address that it leads to, with the same slash at the end and the same host.',
    };
  }
  return { cause: `The answer is ${status}, so a provider sends it again.` };
}

const CAUSES: Readonly<Record<number, readonly [cause: string, fix?: string]>> = {
  400: [
    'The receiver found no signature or no delivery id under the names that it knows.',
    "Set headerPrefix of the receiver to the provider's brand, or send with --header-prefix.",
  ],
  401: [
    'The signature does not fit: another secret, another headerPrefix, or a body that was changed before it was verified.',
    'Look at stderr of the server, which says which. Start the receiver with the secret that this command signs with, or send with its --header-prefix. If both are the same: storefront-webhooks doctor --listen',
  ],
  404: [
    'The server has no such path.',
    'Give the path at which the receiver is mounted, such as /webhooks.',
  ],
  405: ['The path does not take POST.', 'Mount the receiver with app.post() or app.use().'],
  408: ['The body did not arrive in time.'],
  413: ['The body is larger than the receiver, or what is before it, takes.', 'Raise limit.'],
  415: [
    'What is before the receiver does not take this content type.',
    'Mount the receiver before body parsers.',
  ],
  422: [
    'It is genuine, and its payload or its event cannot be: the answer names the fields.',
    'If it is what the provider sends, allow it: see the option that stderr of the receiver names.',
  ],
  500: [
    'A handler threw, the receiver could not be made, or it is mounted behind a body parser.',
    'The server has told what and where on stderr.',
  ],
  502: ['What is before the server could not reach it.', 'Look whether the server runs.'],
  503: [
    'The receiver cannot take it now: its store is down, or it is being closed.',
    'Send it again; if it stays, the server has told why on stderr.',
  ],
};
