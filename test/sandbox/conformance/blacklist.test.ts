import { expect, test } from 'vitest';
import { openSeller } from '../seller.js';

const PATH = '/api/v2/blacklist';
const FORM = 'blacklist_type=1&blocked_data=thief%40example.com&note=took+the+money+back';

test.each([
  ['id', 'string', expect.any(String)],
  ['blacklist_type', '1 = email', 1],
  ['blocked_data', 'the blocked country code, email or IP address', 'thief@example.com'],
  ['note', 'internal reason', 'took the money back'],
  ['created_at', 'timestamp', expect.stringMatching(/\+00:00$/)],
  ['updated_at', 'equals created_at if never updated', expect.any(String)],
])('[spec: Blacklist entry] %s: %s', async (field, _, value) => {
  const { send } = await openSeller();
  const { body } = await send('POST', PATH, FORM);
  expect(body[field]).toEqual(value);
  expect(body.updated_at).toBe(body.created_at);
});

test('[spec: Blacklist entry] note: string or null', async () => {
  const { client } = await openSeller();
  const entry = await client.blacklist.create({ blacklist_type: 3, blocked_data: 'US' });
  expect(entry.note).toBeNull();
});

test.each([
  [1, 'thief@example.com'],
  [2, '203.0.113.99'],
  [3, 'US'],
])(
  '[spec: Blacklist] POST /api/v2/blacklist of the type %i returns the Blacklist entry, 201',
  async (blacklist_type, blocked_data) => {
    const { client, send } = await openSeller();
    const entry = await client.blacklist.create({ blacklist_type, blocked_data });
    expect(entry).toMatchObject({ blacklist_type, blocked_data });
    const form = `blacklist_type=${blacklist_type}&blocked_data=${blocked_data}`;
    expect(await send('POST', PATH, form)).toMatchObject({ status: 201, body: { blacklist_type } });
  },
);

test('[spec: Blacklist] blacklist_type (integer) and blocked_data are required', async () => {
  const { send } = await openSeller();
  const { status, body } = await send('POST', PATH, 'note=why');
  expect(status).toBe(400);
  expect(body.errors).toEqual(['blacklist_type is required', 'blocked_data is required']);
});

test.each(['0', '4', '1.5', 'email'])(
  '[spec: Blacklist entry] blacklist_type is 1, 2 or 3, and not %s',
  async (type) => {
    const { send } = await openSeller();
    const { status, body } = await send('POST', PATH, `blacklist_type=${type}&blocked_data=US`);
    expect(status).toBe(400);
    expect(body.errors).toEqual([expect.stringMatching(/^blacklist_type has to be /)]);
  },
);

test('[spec: Blacklist] GET /api/v2/blacklist returns an array of Blacklist entry', async () => {
  const { client, send } = await openSeller();
  const entry = await client.blacklist.create({ blacklist_type: 3, blocked_data: 'US' });
  expect((await client.blacklist.list()).items).toEqual([entry]);
  expect(await send('GET', PATH)).toMatchObject({ status: 200, body: [entry] });
});

test('[spec: Blacklist] GET /api/v2/blacklist/:id returns the Blacklist entry', async () => {
  const { client, send } = await openSeller();
  const entry = await client.blacklist.create({ blacklist_type: 3, blocked_data: 'US' });
  expect(await client.blacklist.get(entry.id)).toEqual(entry);
  expect(await send('GET', `${PATH}/${entry.id}`)).toMatchObject({ status: 200, body: entry });
});

test.each([
  ['blacklist_type', 'blacklist_type=3', { blacklist_type: 3 }],
  ['blocked_data', 'blocked_data=a%40b.example', { blocked_data: 'a@b.example' }],
  ['note', 'note=other', { note: 'other' }],
])(
  '[spec: Blacklist] PUT /api/v2/blacklist/:id takes %s alone, and returns the Blacklist entry, 200',
  async (_, form, changes) => {
    const { send } = await openSeller();
    const { body: made } = await send('POST', PATH, FORM);
    const { status, body } = await send('PUT', `${PATH}/${made.id}`, form);
    expect(status).toBe(200);
    expect(body).toEqual({
      ...made,
      ...changes,
      updated_at: expect.not.stringMatching(made.updated_at),
    });
  },
);

test.each([
  [1, 'notanemail', 'an email address'],
  [1, '203.0.113.99', 'an email address'],
  [2, '999.1.1.1', 'an IP address'],
  [2, '203.0.113.0/24', 'an IP address'],
  [3, 'Germany', 'a country code'],
  [3, 'XX', 'a country code'],
])(
  '[spec: Blacklist entry] blocked_data: an entry of type %i with %s could never block anything, and is rejected',
  async (type, blocked, wanted) => {
    const { client, send } = await openSeller();
    const form = `blacklist_type=${type}&blocked_data=${blocked}`;
    const errors = [expect.stringContaining(`blocked_data has to be ${wanted}`)];
    expect(await send('POST', PATH, form)).toMatchObject({ status: 400, body: { errors } });
    const good = { 1: 'a@b.example', 2: '::1', 3: 'de' }[type] ?? '';
    const { id } = await client.blacklist.create({ blacklist_type: type, blocked_data: good });
    const change = `blocked_data=${blocked}`;
    expect(await send('PUT', `${PATH}/${id}`, change)).toMatchObject({
      status: 400,
      body: { errors },
    });
    expect((await client.blacklist.get(id)).blocked_data).toBe(good);
  },
);

test('[spec: Blacklist] DELETE /api/v2/blacklist/:id returns 204', async () => {
  const { client, send } = await openSeller();
  const { id } = await client.blacklist.create({ blacklist_type: 3, blocked_data: 'US' });
  expect(await send('DELETE', `${PATH}/${id}`)).toMatchObject({ status: 204, body: undefined });
  await expect(client.blacklist.get(id)).rejects.toMatchObject({ status: 404 });
});
