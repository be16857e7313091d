import { type Client, createClient, type Variant } from 'storefront-webhooks/api';
import {
  createSandbox,
  type Sandbox,
  type SandboxAccount,
  type SandboxOptions,
} from 'storefront-webhooks/sandbox';
import { onTestFinished } from 'vitest';
import { checking } from './document.js';

/** The response to a raw request. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON; `undefined` if the response has no body. */
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the type of its body.
  readonly body: any;
}

/** A seller with an account in a sandbox. Each response is checked against the document. */
export interface Seller<V extends Variant> {
  readonly sandbox: Sandbox;
  readonly account: SandboxAccount;
  readonly client: Client<V>;
  /** Sends a request without the client. A string is a form. */
  send(
    method: string,
    path: string,
    form?: string,
    headers?: Record<string, string>,
  ): Promise<Answered>;
}

/** Opens a sandbox for a test, and closes it with the test. */
export async function openSeller<V extends Variant = 'newer'>(
  options: SandboxOptions & { variant?: V } = {},
  key = 'sk_test_alpha',
): Promise<Seller<V>> {
  const sandbox = createSandbox(options);
  onTestFinished(() => sandbox.close());
  return sell(sandbox, options.variant, key);
}

/** Opens a seller in an existing sandbox. */
export async function sell<V extends Variant = 'newer'>(
  sandbox: Sandbox,
  variant?: V,
  key = 'sk_test_alpha',
): Promise<Seller<V>> {
  const checked = await checking((request) => sandbox.fetch(request));
  const client = createClient({
    baseUrl: 'http://localhost',
    auth: { accessToken: key },
    ...(variant && { variant }),
    retries: 0,
    fetch: (url, init) => checked.client(new Request(url, init)),
  });
  return {
    sandbox,
    account: sandbox.account(key),
    client,
    async send(method, path, form, headers) {
      const all = new Headers({
        authorization: `Bearer ${key}`,
        ...Object.fromEntries(new Headers(headers)),
      });
      if (form !== undefined && !all.has('content-type')) {
        all.set('content-type', 'application/x-www-form-urlencoded');
      }
      const init = { method, headers: all, ...(form === undefined ? {} : { body: form }) };
      const response = await checked.raw(new Request(`http://localhost${path}`, init));
      const text = await response.text();
      const body = text === '' ? undefined : JSON.parse(text);
      return { status: response.status, headers: response.headers, body };
    },
  };
}

/** A product of the serials type, newer variant. */
export const TUNER = {
  title: 'Pocket tuner',
  description: 'Tunes **guitars**.',
  product_type: 'serials',
  stock_delimiter: ';',
  info: 'AAA-1;BBB-2;CCC-3',
  price: '9.90',
  currency: 'EUR',
  gateways: ['bitcoin', 'paypal'],
};

/** The same product in the older variant. */
export const OLDER_TUNER = { ...TUNER, product_type: 2 };

/** The required parameters of a payment in either flow. */
export const PAYMENT = {
  title: 'Lesson',
  email: 'buyer@example.com',
  currency: 'EUR',
  value: '12.50',
  gateway: 'bitcoin',
};

/** The same products as forms, from which a test removes or replaces fields. */
export const PRODUCT_FORM =
  'title=Pocket+tuner&description=Tunes&product_type=serials&stock_delimiter=%3B&info=AAA-1%3BBBB-2' +
  '&price=9.90&currency=EUR&gateways[0]=bitcoin&gateways[1]=paypal';
export const OLDER_PRODUCT_FORM = PRODUCT_FORM.replace('product_type=serials', 'product_type=2');
