import { expect, test } from 'vitest';
import { faultsIn, openVisitor } from './visitor.js';

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
  [{ email: 'ada' }, { email: 'Email has to be an address.' }],
  [
    { title: ' ', message: '' },
    { title: 'Subject is required.', message: 'Message is required.' },
  ],
  [{ message: '' }, { message: 'Message is required.' }],
])(
  'a form with missing fields shows an error at each, and keeps the other values: %j',
  async (missing, faults) => {
    const { submit } = await openVisitor();
    const { html } = await submit(CONTACT, { ...QUESTION, ...missing });
    expect(faultsIn(html)).toEqual(faults);
    expect(html).toContain('<title>Error: ');
    expect(html).toMatch(/value="(ada@example\.com|Strings)"/);
  },
);

test('a reply needs a message and an existing query', async () => {
  const { post, submit } = await openVisitor();
  const { location = '' } = await post(CONTACT, QUESTION);
  const { html } = await submit(location, { message: ' ' });
  expect(faultsIn(html)).toEqual({ message: 'Message is required.' });
  expect(html).toContain('Does it tune 12?');
  expect((await post(`${CONTACT}/none`, { message: 'Hello' })).status).toBe(404);
});
