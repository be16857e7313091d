import { expect, test } from 'vitest';
import { openSeller } from '../seller.js';

const ENDPOINTS = '/api/v2/webhooks/endpoints';
const LOGS = '/api/v2/webhooks/logs';
const FORM = 'url=https%3A%2F%2Fshop.example%2Fin&events[0]=order%3Apaid&events[1]=order%3Acreated';
const ENDPOINT = {
  url: 'https://shop.example/in',
  events: ['order:paid', 'order:created'],
} as const;

test.each([
  ['id', 'string', expect.any(String)],
  ['url', 'destination of webhooks', 'https://shop.example/in'],
  ['enabled', 'true by default', true],
  ['events', 'array of string, subscribed event names', ['order:paid', 'order:created']],
  ['created_at', 'timestamp', expect.stringMatching(/\+00:00$/)],
  ['updated_at', 'equals created_at if never updated', expect.any(String)],
])('[spec: Webhook endpoint] %s: %s', async (field, _, value) => {
  const { send } = await openSeller();
  const { body } = await send('POST', ENDPOINTS, FORM);
  expect(body[field]).toEqual(value);
  expect(body.updated_at).toBe(body.created_at);
});

test('[spec: Webhook endpoints] POST /api/v2/webhooks/endpoints returns the Webhook endpoint, 201', async () => {
  const { client, send } = await openSeller();
  expect(await client.webhookEndpoints.create(ENDPOINT)).toMatchObject({
    ...ENDPOINT,
    enabled: true,
  });
  expect(await send('POST', ENDPOINTS, FORM)).toMatchObject({ status: 201, body: ENDPOINT });
});

test('[spec: Webhook endpoints] url and events are required', async () => {
  const { send } = await openSeller();
  const { status, body } = await send('POST', ENDPOINTS, '');
  expect(status).toBe(400);
  expect(body.errors).toEqual(['url is required', 'events is required']);
});

test.each(['http://shop.example/in', 'ftp://shop.example/in', 'shop.example/in', 'https://'])(
  '[spec: Webhook endpoint] url: HTTPS only, so %s is rejected',
  async (url) => {
    const { send } = await openSeller();
    const form = `url=${encodeURIComponent(url)}&events[0]=order%3Apaid`;
    const { status, body } = await send('POST', ENDPOINTS, form);
    expect(status).toBe(400);
    expect(body.errors).toEqual([expect.stringContaining('https://')]);
  },
);

test.each(['http://127.0.0.1:3000/in', 'http://localhost/in', 'http://[::1]:3000/in'])(
  'a webhook URL on this machine may be plain HTTP: %s',
  async (url) => {
    const { client } = await openSeller();
    expect(await client.webhookEndpoints.create({ ...ENDPOINT, url })).toMatchObject({ url });
  },
);

test.each([
  'feedback:updated',
  'order:created',
  'order:updated',
  'order:paid',
  'product:out_of_stock',
  'query:created',
  'query:replied',
] as const)('[spec: Events] webhook endpoints may subscribe to %s', async (event) => {
  const { client } = await openSeller();
  expect(await client.webhookEndpoints.create({ ...ENDPOINT, events: [event] })).toMatchObject({
    events: [event],
  });
});

test.each(['feedback:created', 'query:updated'] as const)(
  '[spec: Events] examples of subscriptions also contain %s',
  async (event) => {
    const { client } = await openSeller();
    expect(await client.webhookEndpoints.create({ ...ENDPOINT, events: [event] })).toMatchObject({
      events: [event],
    });
  },
);

test('an unknown event is rejected with a list of the known ones', async () => {
  const { send } = await openSeller();
  const { status, body } = await send('POST', ENDPOINTS, FORM.replace('paid', 'payed'));
  expect(status).toBe(400);
  expect(body.errors).toEqual([
    expect.stringMatching(/^events\[0\] has to be one of .*order:paid/),
  ]);
});

test('an event that is listed twice is rejected', async () => {
  const { send } = await openSeller();
  const form = FORM.replace('created', 'paid');
  const errors = ['events must not contain duplicates'];
  expect(await send('POST', ENDPOINTS, form)).toMatchObject({ status: 400, body: { errors } });
});

test('[spec: Webhook endpoints] GET /api/v2/webhooks/endpoints returns an array of Webhook endpoint', async () => {
  const { client, send } = await openSeller();
  const made = await client.webhookEndpoints.create(ENDPOINT);
  expect((await client.webhookEndpoints.list()).items).toEqual([made]);
  expect(await send('GET', ENDPOINTS)).toMatchObject({ status: 200, body: [made] });
});

test('[spec: Webhook endpoints] GET /api/v2/webhooks/endpoints/:id returns the Webhook endpoint', async () => {
  const { client, send } = await openSeller();
  const made = await client.webhookEndpoints.create(ENDPOINT);
  expect(await client.webhookEndpoints.get(made.id)).toEqual(made);
  expect(await send('GET', `${ENDPOINTS}/${made.id}`)).toMatchObject({ status: 200, body: made });
});

test.each([
  ['url', 'url=https%3A%2F%2Fshop.example%2Fother', { url: 'https://shop.example/other' }],
  ['events', 'events[0]=query%3Acreated', { events: ['query:created'] }],
])(
  '[spec: Webhook endpoints] PUT /api/v2/webhooks/endpoints/:id takes %s alone, and returns the Webhook endpoint, 200',
  async (_, form, changes) => {
    const { send } = await openSeller();
    const { body: made } = await send('POST', ENDPOINTS, FORM);
    const { status, body } = await send('PUT', `${ENDPOINTS}/${made.id}`, form);
    expect(status).toBe(200);
    expect(body).toEqual({
      ...made,
      ...changes,
      updated_at: expect.not.stringMatching(made.updated_at),
    });
  },
);

test('[spec: Webhook endpoints] DELETE /api/v2/webhooks/endpoints/:id returns 204', async () => {
  const { client, send } = await openSeller();
  const { id } = await client.webhookEndpoints.create(ENDPOINT);
  expect(await send('DELETE', `${ENDPOINTS}/${id}`)).toMatchObject({
    status: 204,
    body: undefined,
  });
  await expect(client.webhookEndpoints.get(id)).rejects.toMatchObject({ status: 404 });
});

test('[spec: Webhook logs] GET /api/v2/webhooks/logs returns an array of Webhook log', async () => {
  const { client, send } = await openSeller();
  expect((await client.webhookLogs.list()).items).toEqual([]);
  expect(await send('GET', LOGS)).toMatchObject({ status: 200, body: [] });
});

test('[spec: Webhook logs] GET /api/v2/webhooks/logs/:id of a log that does not exist returns 404', async () => {
  const { client } = await openSeller();
  await expect(client.webhookLogs.get('whl_1')).rejects.toMatchObject({ status: 404 });
});
