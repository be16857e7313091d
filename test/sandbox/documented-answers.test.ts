import { expect, onTestFinished, test } from 'vitest';
import { ENDPOINTS } from './conformance/endpoints.js';
import { OLDER_PRODUCT_FORM, openSeller, PRODUCT_FORM } from './seller.js';
import { startListener } from './webhooks/listener.js';

const ORDER = '/sandbox/orders';
const FORMS: Readonly<Record<string, string>> = {
  '/api/v2/categories': 'title=Tuners&product_ids[]=',
  '/api/v2/blacklist': 'blacklist_type=3&blocked_data=US',
  '/api/v2/webhooks/endpoints': 'url=https%3A%2F%2Fshop.example%2Fin&events[0]=order%3Apaid',
  '/api/v2/pay':
    'title=Lesson&email=a%40b.example&currency=EUR&value=1&gateway=bitcoin&white_label=true',
  '/sandbox/queries': 'email=a%40b.example&title=Hello&message=How%3F',
};

/** POST runs first, so that there are records to read, change and delete. */
const POSTS_FIRST = ENDPOINTS.toSorted(
  ([one], [other]) => Number(other === 'POST') - Number(one === 'POST'),
);

test.each([
  ['newer', PRODUCT_FORM],
  ['older', OLDER_PRODUCT_FORM],
] as const)(
  'the sandbox gives each documented answer of the %s variant, and no others',
  async (variant, productForm) => {
    const { account, client, sandbox, send } = await openSeller({ variant });
    const listener = await startListener();
    onTestFinished(() => listener.close());
    const served = await sandbox.fetch('http://localhost/openapi.json');
    const { paths } = JSON.parse(await served.text());
    const documented = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries<{ responses: object }>(Object(methods)).map(([method, { responses }]) => ({
        method: method.toUpperCase(),
        path,
        statuses: Object.keys(responses),
      })),
    );
    const given = new Set<string>();
    const ask = async (method: string, path: string, form?: string, headers = {}) => {
      const { status, body } = await send(method, path, form, headers);
      const template = path.replace(/\?.*/, '').replace(/\/(\w+_\w+|none)(?=\/|$)/, '/{id}');
      given.add(`${method} ${template} ${status}`);
      return body;
    };

    // Valid requests.
    const forms: typeof FORMS = { ...FORMS, '/api/v2/products': productForm };
    await client.webhookEndpoints.create({ url: listener.url, events: ['order:created'] });
    const product = await ask('POST', '/api/v2/products', productForm);
    const buy = async () => (await ask('POST', ORDER, `product_id=${product.id}`)).id;
    const step = (id: string, name: string, form = '') =>
      ask('POST', `${ORDER}/${id}/${name}`, form);
    const first = await buy();
    await step(first, 'pay');
    await step(first, 'confirm');
    await step(first, 'feedback', 'rating=5&message=Good');
    await step(first, 'refund');
    const [second] = [await buy()];
    await step(second, 'pay');
    await step(second, 'charge-back');
    await client.products.update(product.id, { info: 'X;Y' });
    await step(await buy(), 'expire');
    const query = await ask('POST', '/sandbox/queries', forms['/sandbox/queries']);
    await ask('POST', `/sandbox/queries/${query.id}/messages`, 'from=seller&text=So.');
    for (const path of ['/sandbox/clock', '/sandbox/faults', '/sandbox/settings']) {
      await ask('GET', path);
    }
    await ask('POST', '/sandbox/clock', 'ms=0');
    await ask('POST', '/sandbox/faults', 'operation=orders.get&status=503&after=9');
    await ask('DELETE', '/sandbox/faults');
    await ask('PUT', '/sandbox/settings', 'read_only=false');
    const ofAnother = { authorization: 'Bearer sk_test_seeded' };
    await ask('POST', '/sandbox/seed', '', ofAnother);
    for (const [method, row, operation] of POSTS_FIRST) {
      const path = row.replace(':id', '{id}');
      const list = path.replace('/{id}', '');
      const form = method === 'PUT' ? '' : forms[list];
      if (method === 'POST') await ask(method, path, form);
      else if (!path.endsWith('{id}')) await ask(method, path);
      else {
        const isPayment = operation === 'payments.delete';
        const { id } = isPayment ? await ask('POST', list, form) : (await ask('GET', list))[0];
        await ask(method, path.replace('{id}', id), method === 'PUT' ? '' : undefined);
      }
    }

    // Invalid requests.
    for (const { method, path } of documented) {
      const none = path.replace('{id}', 'none');
      const bodyOf = (wrong: string) => (/^(POST|PUT)$/.test(method) ? wrong : undefined);
      await ask(method, none, bodyOf(''), { authorization: '' });
      await ask(method, none, bodyOf(''), { accept: 'text/xml' });
      await ask(method, none, bodyOf(forms[path] ?? ''));
      await ask(method, `${none}${method === 'GET' ? '?page=0' : ''}`, bodyOf('=wrong'), {
        'content-type': 'text/plain',
      });
      const endpoint = ENDPOINTS.find(
        ([of, row]) => of === method && row.replace(':id', '{id}') === path,
      );
      if (!endpoint) continue;
      for (const status of [403, 429, 500, 503] as const) {
        account.faults.add({ operation: endpoint[2], status });
        await ask(method, none, bodyOf(''));
      }
    }
    await ask('POST', ORDER, 'product_id=none');
    for (const name of ['pay', 'confirm', 'refund', 'charge-back', 'expire', 'feedback']) {
      await step('none', name, name === 'feedback' ? 'rating=5&message=Good' : '');
    }
    await ask('POST', '/sandbox/queries/none/messages', 'from=seller&text=So.');
    await ask('POST', '/sandbox/reset', '');

    const answers = documented.flatMap(({ method, path, statuses }) =>
      statuses.map((status) => `${method} ${path} ${status}`),
    );
    expect(answers.filter((answer) => !given.has(answer))).toEqual([]);
    expect([...given].filter((answer) => !answers.includes(answer))).toEqual([]);
  },
);
