import type { Finding } from 'storefront-webhooks/recovery';
import { printable } from '../errors/text.js';

const FIELDS = [
  'orderId',
  'kind',
  'because',
  'times',
  'status',
  'value',
  'currency',
  'updatedAt',
] as const satisfies (keyof Finding)[];

const NUMBER = /^-?\d+(?:\.\d+)?$/;

/** Returns findings as CSV (RFC 4180). An apostrophe precedes each text that a spreadsheet would run as a formula. */
export function toCsv(findings: readonly Finding[]): string {
  const rows = findings.map((finding) => FIELDS.map((field) => toCell(finding[field])));
  return [FIELDS, ...rows].map((cells) => `${cells.join(',')}\r\n`).join('');
}

function toCell(value: Finding[(typeof FIELDS)[number]]): string {
  const given = value instanceof Date ? value.toISOString() : String(value ?? '');
  // A terminal would obey control characters. A cell may hold tabs and line ends.
  const text = given.replace(/[^\P{C}\t\r\n]/gu, (one) => printable(one));
  const safely = /^[=+@\t\r\n-]/.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safely) ? `"${safely.replaceAll('"', '""')}"` : safely;
}
