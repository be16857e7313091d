import { expect, test } from 'vitest';
import { openVisitor } from './visitor.js';

const CONTACT = '/shop/alpha/contact';
const QUESTION = { email: 'ada@example.com', title: 'Strings', message: 'Does it tune 12?' };

test('a customer asks, reads the reply, and writes again', async () => {
  const { get, post, account } = await openVisitor();
  const { status, location = '' } = await post(CONTACT, QUESTION);
  expect([status, location]).toEqual([303, expect.stringMatching(/^\/shop\/alpha\/contact\/qry_/)]);
  await account.write(location.split('/').at(-1) ?? '', { from: 'seller', text: 'It does.' });
  expect(await post(location, { message: 'Thanks!' })).toMatchObject({ status: 303, location });
  expect((await get(location)).html).toMatch(
    /<h1>Strings<\/h1>[\s\S]*You[\s\S]*Does it tune 12\?[\s\S]*The shop[\s\S]*It does\.[\s\S]*Thanks!/,
  );
});

test.each([
  [{ email: 'ada' }, 'Email has to be an address.'],
  [{ title: ' ' }, 'Subject and message are required.'],
  [{ message: '' }, 'Subject and message are required.'],
])('what is missing is said, and the rest is kept: %j', async (missing, sentence) => {
  const { post } = await openVisitor();
  const { status, html } = await post(CONTACT, { ...QUESTION, ...missing });
  expect([status, html]).toEqual([400, expect.stringContaining(sentence)]);
  expect(html).toMatch(/value="(ada@example\.com|Strings)"/);
});

test('nothing is written to a query without a message, nor to none', async () => {
  const { post } = await openVisitor();
  const { location = '' } = await post(CONTACT, QUESTION);
  expect((await post(location, { message: ' ' })).html).toContain('Message is required.');
  expect((await post(`${CONTACT}/none`, { message: 'Hello' })).status).toBe(404);
});
