/** @jest-environment jsdom */
const { createReceiver } = require('storefront-webhooks');
const { replay, sign } = require('storefront-webhooks/testing');

const secret = 'a secret for the small projects';
const body = Uint8Array.from(
  Buffer.from('{"id":"ord_7","status":100,"email":"buyer@example.com","title":"Zürich 東京"}'),
);
const headers = {
  'x-service-event': 'order:paid',
  'x-service-webhook': 'whl_7',
  'content-length': String(body.length),
};

/** Sends the bytes under the headers of the whole body, and returns the answer and the orders delivered. */
async function send(bytes) {
  const delivered = [];
  const receiver = createReceiver({ secret }).onPaid(async ({ payload }) => {
    delivered.push(payload.id);
  });
  const signed = { ...headers, 'x-service-signature': sign(body, secret) };
  const { status } = await receiver.receive({
    method: 'POST',
    url: '/webhooks',
    headers: signed,
    body: bytes,
  });
  return { status, delivered };
}

test('replays a paid order that ships with the package', async () => {
  const receiver = createReceiver({ secret }).onPaid(async () => {});
  expect((await replay(receiver, 'order:paid')).outcome).toBe('handled');
});

test('handles a whole body', async () => {
  expect(await send(body)).toEqual({ status: 200, delivered: ['ord_7'] });
});

test.each([
  ['was read before', new Uint8Array()],
  ['is cut', body.subarray(0, 40)],
])('handles no body that %s', async (_, bytes) => {
  const { status, delivered } = await send(bytes);
  expect(status).toBeGreaterThanOrEqual(400);
  expect(delivered).toEqual([]);
});
