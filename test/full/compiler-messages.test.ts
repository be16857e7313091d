import { describe, expect, test } from 'vitest';
import { compile } from '../support/compile.js';

/** Returns the messages of an editor for each line of a program with a receiver. */
const mistakes = {
  "receiver.on('order:payed', () => {});": [
    `Argument of type '"order:payed"' is not assignable to parameter of type '"`,
    '"order:created"',
    '"order:paid"',
    '"order:updated"',
  ],
  "receiver.on(['order:paid', 'query:repied'], () => {});": [`Did you mean '"query:replied"'?`],
  "receiver.on('order:paid', ({ payload }) => payload.orderId);": [
    "Property 'orderId' does not exist on type 'Order'.",
  ],
  "receiver.on('order:*', deliver, { name: 'deliver', oncePer: (order) => order.id });": [
    `Type '(order: Order) => string' is not assignable to type '(payload: Order) => "oncePer takes exact event names, and no family, which would include new events by itself: list them, as ['order:paid', 'order:updated']"'.`,
  ],
  "receiver.on(['order:paid', '*'], deliver, { name: 'deliver', oncePer: (order) => order.id });": [
    'oncePer takes exact event names, and no family',
  ],
  "receiver.on('order:paid', deliver, { name: 'deliver', oncePer: (order) => order.product_id });":
    ["Type 'string | null | undefined' is not assignable to type 'string'."],
  "receiver.on('order:paid', deliver, { oncePer: (order) => order.id });": [
    "Property 'name' is missing in type '{ oncePer: (order: Order) => string; }' but required in type 'EffectOptions<Order>'.",
  ],
  "receiver.on('order:paid', deliver, { nmae: 'deliver' });": ["'nmae' does not exist in type"],
  'receiver.onPaid(({ payload }) => payload.orderId);': [
    "Property 'orderId' does not exist on type 'Order'.",
  ],
  "receiver.onPaid(deliver, { oncePer: () => 'id' });": [
    "Object literal may only specify known properties, and 'oncePer' does not exist in type 'PaidOptions",
  ],
  "receiver.onPaid('order:paid', deliver);": [
    "Argument of type 'string' is not assignable to parameter of type 'Handler<",
  ],
  "createReceiver({ secret: 's', events: { 'order:paid': lossy } }).onPaid(deliver);": [
    'onPaid needs `id` (a text) and `status` in the payloads of order:created, order:paid and order:updated',
  ],
  "createReceiver({ secret: 's', header: 'X-Brand-' });": [
    "Object literal may only specify known properties, and 'header' does not exist in type 'ReceiverOptions",
  ],
  "createReceiver({ secret: 's', headerPrefx: 'X-Brand-' });": [
    "Did you mean to write 'headerPrefix'?",
  ],
  "createReceiver({ secret: 's', store: new Map() });": [
    "Type 'Map<any, any>' is missing the following properties from type 'IdempotencyStore",
  ],
  "sqliteStore('webhooks.db');": [
    "Argument of type 'string' is not assignable to parameter of type 'SqliteDatabase'.",
  ],
  "express().post('/webhooks', receiver);": ["Argument of type 'Receiver<"],
};

describe('the compiler explains a mistake', () => {
  const program = (line: string) => `
import express from 'express';
import { createReceiver, type StandardSchema } from 'storefront-webhooks';
import { sqliteStore } from 'storefront-webhooks/sqlite';
const receiver = createReceiver({ secret: 's' });
const deliver = () => {};
declare const lossy: StandardSchema<unknown, { id: string }>;
${line}
void [express, sqliteStore, receiver, deliver, lossy];`;
  const right =
    "receiver.on(['order:paid', 'order:updated'], deliver, { name: 'deliver', oncePer: (order) => order.id });";
  const complaints = compile([right, ...Object.keys(mistakes)].map(program));

  test('and reports nothing for correct lines', () => expect(complaints[0]).toEqual([]));

  test.each(Object.entries(mistakes).map(([line, said], at) => ({ line, said, at })))(
    '$line',
    ({ said, at }) => {
      const [first = '', ...others] = complaints[at + 1] ?? [];
      expect(others).toEqual([]);
      for (const part of said) expect(first).toContain(part);
      // A message should not show the structure of the types.
      expect(first).not.toMatch(/Flat<|Pattern<|No overload matches this call.\s*Overload 1 of 2/);
    },
  );
});

test('a package with declarations exports a receiver whose options have a type', () => {
  const program = `
import { createReceiver, type EventSchemas, type ReceiverOptions, type StandardSchema } from 'storefront-webhooks';
declare const options: ReceiverOptions;
declare const own: StandardSchema<unknown, { id: string }>;
export const receiver = createReceiver(options);
export const debugged = createReceiver({ ...options, debug: true });
export function make(changed: Partial<ReceiverOptions>) {
  return createReceiver({ secret: 's', ...changed }).onPaid(() => {});
}
const satisfied = { secret: 's', events: { 'own:event': own } } satisfies ReceiverOptions<EventSchemas>;
export const ofOwnEvent = createReceiver(satisfied).on('own:event', ({ payload }) => payload.id.trim());`;
  expect(compile([program])).toEqual([[]]);
});
