import { createReceiver } from 'storefront-webhooks';
import { crashPoints } from 'storefront-webhooks/testing';

const secret = 'a secret for tests';
const observe = { mail: async (_to) => {}, book: async (_id) => {} };

async function find(handler) {
  const hooks = { onError() {}, onRejected() {} };
  const makeReceiver = (store, effects) =>
    createReceiver({ secret, store, hooks }).on('order:paid', (event) => handler(event, effects));
  return (await crashPoints(makeReceiver, 'order:paid', { observe })).findings;
}

const outside = await find(async ({ payload, once }, { mail, book }) => {
  await mail(payload.email);
  await once('book', () => book(payload.id));
});
const waits = await find(async ({ payload }, { mail }) => {
  await mail(payload.email);
  await new Promise((resolve) => setTimeout(resolve, 5));
});
const inside = await find(async ({ payload, once }, { mail, book }) => {
  await once('mail', () => mail(payload.email));
  await once('book', () => book(payload.id));
});

console.log(JSON.stringify({ outside, waits, inside }));
