import { UsageError } from '../errors/errors.js';
import { describeError, printable } from '../errors/text.js';
import { isBytes, nameType } from '../runtime/bytes.js';
import { afterTurn } from '../runtime/timing.js';
import { Rejection } from './outcome.js';
import type { ReadBody, WebhookRequest } from './request.js';

/** The body of a webhook. */
export interface RawBody {
  readonly bytes: Uint8Array;
  readonly outcome?: undefined;
}

/** Limits the total bytes of all bodies that are being read at the same time. */
export interface BodyBudget {
  /** @param giveUp - Called if there is no room for this body any more. */
  begin(giveUp: () => void): object;
  add(body: object, bytes: number): void;
  end(body: object): void;
}

/** How a body is read. */
export interface BodyRules {
  readonly limit: number;
  readonly bodyTimeoutMs: number;
}

/** Reads at most `limit` bytes within `bodyTimeoutMs`, as long as the budget has room for them. */
export function readBody(
  body: WebhookRequest['body'],
  rules: BodyRules,
  bodies?: BodyBudget,
): Promise<RawBody | Rejection> | RawBody | Rejection {
  if (typeof body !== 'function') return checkBody(body, rules.limit);
  return readInTime(body, rules, bodies).then((read) =>
    read.outcome === 'rejected' ? read : checkBody(read.body, rules.limit),
  );
}

function checkBody(body: unknown, limit: number): RawBody | Rejection {
  if (isBytes(body)) {
    return body.length > limit ? new Rejection('body_too_large') : { bytes: body };
  }
  if (typeof body === 'object' && body !== null && 'consumed' in body) {
    throw new UsageError(
      'body_consumed',
      `The raw body is gone: something read and parsed it before the receiver. ${body.consumed}`,
    );
  }
  throw new UsageError(
    'body_not_bytes',
    `The body has to be raw bytes: a Uint8Array or a function that reads one, but it is ${nameType(body)}.`,
  );
}

function readInTime(
  read: ReadBody,
  { limit, bodyTimeoutMs }: BodyRules,
  bodies: BodyBudget | undefined,
): Promise<{ readonly body: unknown; readonly outcome?: undefined } | Rejection> {
  return new Promise((resolve) => {
    const giveUp = () => end(new Rejection('body_late'));
    const stopTimer = afterTurn(giveUp, bodyTimeoutMs);
    const reading = bodies?.begin(giveUp);
    let size = 0;
    // In pieces of one byte, a body would cost far more than its bytes.
    let piecesLeft = Math.max(10_000, limit / 100);
    let isOver = false;
    let release = () => {};
    const end = (result: { readonly body: unknown } | Rejection) => {
      isOver = true;
      stopTimer();
      if (reading) bodies?.end(reading);
      resolve(result);
      release();
    };
    const onBytes = (bytes: number) => {
      size += bytes;
      piecesLeft -= 1;
      if (size > limit) end(new Rejection('body_too_large'));
      // A sender of single bytes is as slow as a silent one.
      else if (piecesLeft < 0) giveUp();
      // If there is no room, this may give up this body itself.
      else if (reading) bodies?.add(reading, bytes);
      if (isOver) throw new Error('The receiver has stopped reading.');
    };
    // The limits of the receiver have ended it before. This error comes from the server or the connection.
    const fail = (error: unknown) => {
      const detail = `Reading it failed: \`${printable(describeError(error))}\`.`;
      end(new Rejection('body_incomplete', { detail }));
    };
    try {
      const whenOver = (callback: () => void) => {
        release = callback;
      };
      read(limit, onBytes, whenOver).then((body) => end({ body }), fail);
    } catch (error) {
      fail(error);
    }
  });
}
