import type { Fixture, ReplayResult } from 'storefront-webhooks/testing';
import { printable } from '../report/text.js';
import { isJsonObject } from '../schemas/json.js';
import { toLine } from './columns.js';
import { commandLines, textLines } from './lines.js';
import type { Printer } from './printer.js';

/** One sending of a delivery, as commands tell of it. */
export interface DeliveryReport {
  /** ISO 8601. */
  readonly time: string;
  readonly event: string;
  readonly id: string;
  /** The id of the record that it is about. */
  readonly subject: string;
  /** Such as `19.90 EUR`, of an order. */
  readonly amount: string;
  /** How it was signed: `valid`, `none`, `wrong`, `kept` as it was recorded, or `unchecked` without a secret. */
  readonly signature: 'valid' | 'none' | 'wrong' | 'kept' | 'unchecked';
  /** 0 where there was no answer. */
  readonly status: number;
  /** What became of it, as the answer says. */
  readonly outcome: string;
  readonly ms: number;
  /** How often this delivery was sent, with this one. */
  readonly attempt: number;
  /** Whether it was answered as it should be. */
  readonly good: boolean;
  /** The body of the answer, where it was not. */
  readonly answer?: string;
  /** Why it was not, what proves it, and what to change. */
  readonly cause?: string;
  readonly fix?: string;
  /** The command that does it again. */
  readonly repeat?: string;
}

/** What is told of a body, without its customer: subject and amount. */
export function subjectOf(body: Uint8Array): Pick<DeliveryReport, 'subject' | 'amount'> {
  const payload = parse(body);
  const text = (name: string) => {
    const value = payload[name];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  };
  return { subject: text('id'), amount: `${text('value')} ${text('currency')}`.trim() };
}

function parse(body: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(body));
    return isJsonObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

/** The delivery's id in the headers of a fixture. */
export function idOf({ headers }: Fixture): string {
  return headers.find(([name]) => /-webhook$/i.test(name))?.[1] ?? '';
}

/** It is for the provider's log, and no person reads it. */
const RECEIPT = /,"receipt":"v1\.[^"]*"/;

/** What a sending was answered. */
export function answerOf({ status, outcome, durationMs, body }: ReplayResult) {
  const ms = Math.round(durationMs * 10) / 10;
  return { status, outcome: outcome ?? '', ms, answer: printable(body.replace(RECEIPT, ''), 500) };
}

/** A delivery in one line for people. */
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
      { text: signature, width: 9, rank: 4 },
      { text: answer, width: 13, rank: 9, paint: colour },
      { text: `${ms} ms`, width: 9, rank: 6, paint: paint.dim },
      { text: `#${attempt}`, width: 3, rank: 1 },
      { text: id, width: 8, rank: 0, paint: paint.dim },
    ],
    columns,
  );
}

/** What people are told below the line of a delivery that was not answered as it should be. */
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
