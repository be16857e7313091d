import type { Fixture, ReplayResult } from 'storefront-webhooks/testing';
import { printable } from '../errors/text.js';
import { RECEIPT_HEADER } from '../request/outcome.js';
import { findReceipt } from '../request/receipt.js';
import { isJsonObject } from '../schemas/values.js';
import { toLine } from './columns.js';
import { commandLines, textLines } from './lines.js';
import type { Printer } from './printer.js';

/** The report of one attempt to send a delivery, as commands print it. */
export interface DeliveryReport {
  /** ISO 8601. */
  readonly time: string;
  readonly event: string;
  readonly id: string;
  /** The id of the record that the delivery is about. */
  readonly subject: string;
  /** The value of an order, such as `19.90 EUR`. */
  readonly amount: string;
  /** The signature that was sent. `kept`: as it was recorded. `unchecked`: there is no secret to verify it with. */
  readonly signature: 'valid' | 'none' | 'wrong' | 'kept' | 'unchecked';
  /** 0 if there was no answer. */
  readonly status: number;
  /** The outcome that the answer names. */
  readonly outcome: string;
  readonly ms: number;
  /** How often this delivery was sent, including this attempt. */
  readonly attempt: number;
  /** Whether the answer is the expected one. */
  readonly good: boolean;
  /** The body of an answer that is not the expected one. */
  readonly answer?: string;
  /** Why the answer is not the expected one. */
  readonly cause?: string;
  /** The change that helps. */
  readonly fix?: string;
  /** The command that sends the delivery again. */
  readonly repeat?: string;
  /** The key under which the receiver processed the delivery, if it is another one than was asked for. */
  readonly otherKey?: string;
  /** Present if the receiver answered that the delivery is done, and it is not done in the store that was asked. */
  readonly otherStore?: true;
}

/** Returns what reports show of a body, without customer data: subject and amount. */
export function subjectOf(body: Uint8Array): Pick<DeliveryReport, 'subject' | 'amount'> {
  const payload = parse(body);
  const text = (name: string) => {
    const value = payload[name];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  };
  const value = text('value');
  return { subject: text('id'), amount: value && `${value} ${text('currency')}`.trim() };
}

function parse(body: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(body));
    return isJsonObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

/** Returns the delivery's id from the headers of a fixture. */
export function idOf({ headers }: Fixture): string {
  return headers.find(([name]) => /-webhook$/i.test(name))?.[1] ?? '';
}

/** The receipt in an answer, which only the provider's log needs. */
const RECEIPT = /,"receipt":"v1\.[^"]*"/;

/** Returns the part of a report that describes the answer. */
export function answerOf({ status, outcome, durationMs, body }: ReplayResult) {
  const ms = Math.round(durationMs * 10) / 10;
  return { status, outcome: outcome ?? '', ms, answer: shownAnswer(body) };
}

/** Returns the key under which the receiver processed the delivery; `undefined` if the answer has no receipt. */
export function keyOf({ headers, body }: ReplayResult): string | undefined {
  return findReceipt(`${headers[RECEIPT_HEADER]} ${body}`)?.key;
}

/** Returns the type and the title of an answer that is not a receiver's; `undefined` if it is a receiver's. */
export function pageOf({ outcome, headers, body }: ReplayResult): string | undefined {
  if (outcome !== undefined) return undefined;
  const type = headers['content-type']?.split(';')[0]?.trim() || 'without a content type';
  const title = /<title[^<>]*>([^<]*)/i.exec(body)?.[1]?.replace(/\s+/g, ' ').trim();
  return printable(title ? `${type}, titled "${title}"` : type, 200);
}

/** Returns the body of an answer as one line, without its receipt; of a page, only its words. */
export function shownAnswer(body: string): string {
  const words = /^\s*</.test(body) ? body.replace(/<[^<>]*>/g, ' ') : body;
  return printable(words.replace(RECEIPT, '').replace(/\s+/g, ' ').trim(), 500);
}

/** Returns the line for a delivery in a terminal. */
export function deliveryLine(report: DeliveryReport, { paint, columns }: Printer): string {
  const { time, event, id, subject, amount, signature, status, outcome, ms, attempt, good } =
    report;
  const colour = good ? paint.green : paint.red;
  const answer = status === 0 ? 'no answer' : `${status} ${outcome}`;
  return toLine(
    [
      { text: good ? '✓' : '✗', width: 1, rank: 9, paint: colour },
      { text: time.slice(11, 19), width: 8, rank: 2, paint: paint.dim },
      { text: event, width: 20, rank: 8 },
      { text: subject, width: 16, rank: 5 },
      { text: amount, width: 12, rank: 3 },
      // The signature is valid under the secret of this command, but the server has another one.
      { text: signature === 'valid' && status === 401 ? 'signed' : signature, width: 9, rank: 4 },
      { text: answer, width: 13, rank: 9, paint: colour },
      { text: `${ms} ms`, width: 9, rank: 6, paint: paint.dim },
      { text: `#${attempt}`, width: 3, rank: 1 },
      { text: id, width: 8, rank: 0, paint: paint.dim },
    ],
    columns,
  );
}

/** Returns the lines below a delivery whose answer is not the expected one. */
export function failureLines(
  { cause, fix, answer, repeat }: DeliveryReport,
  { columns }: Printer,
): string[] {
  return [
    ...(cause === undefined ? [] : textLines('  why:    ', cause, columns)),
    ...(fix === undefined ? [] : textLines('  change: ', fix, columns)),
    ...(answer ? textLines('  answer: ', answer, columns) : []),
    ...(repeat === undefined ? [] : commandLines('  again:  ', repeat, columns)),
  ];
}
