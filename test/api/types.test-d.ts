// The promises of the types. `npx tsc` compiles this file and never runs it: each `@ts-expect-error` below is an
// error that an editor has to show, and each assertion a type that it has to know.
import type {
  HostedPayment,
  NewerProduct,
  OlderProduct,
  Order,
  Payment,
  Product,
  SubscribedEvent,
  WebhookLog,
  WhiteLabelPayment,
} from 'storefront-webhooks';
import {
  ApiError,
  type Client,
  createClient,
  type List,
  type Page,
  type Variant,
} from 'storefront-webhooks/api';

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles only if the two types are the same. */
declare function same<A, B>(proof: Equal<A, B>): void;
declare const client: Client;
declare const older: Client<'older'>;
declare const either: Client<Variant>;

const baseUrl = 'https://shop.example';
const auth = { accessToken: process.env.ACCESS_TOKEN };

export function theVariantIsThatOfTheOptions() {
  const made = createClient({ baseUrl, auth, variant: 'older' });
  same<typeof made, Client<'older'>>(true);
  const unsaid = createClient({ baseUrl, auth, timeout: 5_000 });
  same<typeof unsaid, Client<'newer'>>(true);
  // @ts-expect-error an unknown variant
  createClient({ baseUrl, auth, variant: 'oldest' });
}

export function credentialsAreOfOneKind() {
  createClient({ baseUrl, auth: { email: 'seller@example.com', apiKey: process.env.API_KEY } });
  // @ts-expect-error an email without its key
  createClient({ baseUrl, auth: { email: 'seller@example.com' } });
  // @ts-expect-error a misspelt token
  createClient({ baseUrl, auth: { token: 'tok_1' } });
  // @ts-expect-error a misspelt option
  createClient({ baseUrl, auth, retry: 3 });
}

export async function recordsAreOfTheVariant() {
  const newerProduct = await client.products.get('prd_1');
  same<typeof newerProduct, NewerProduct>(true);
  const olderProduct = await older.products.get('prd_1');
  same<typeof olderProduct, OlderProduct>(true);
  const product = await either.products.get('prd_1');
  same<typeof product, Product>(true);
  // @ts-expect-error the older variant has no warranty
  olderProduct.warranty;
}

export async function listsAreAPageAndAllRecords() {
  same<ReturnType<typeof client.orders.list>, List<Order>>(true);
  const page = await client.orders.list({ page: 2, perPage: 50 });
  same<typeof page, Page<Order>>(true);
  for await (const log of client.webhookLogs.list()) same<typeof log, WebhookLog>(true);
  // @ts-expect-error options are named as in TypeScript
  client.orders.list({ per_page: 50 });
}

export async function parametersAreOfTheVariant() {
  const product = { title: 'T', description: 'D', price: '9.90', currency: 'EUR' };
  await client.products.create({ ...product, product_type: 'file', gateways: ['paypal'] });
  await client.products.create({ ...product, product_type: 'licence', gateways: ['barter'] });
  await older.products.create({ ...product, product_type: 1, gateways: ['Paypal'] });
  // @ts-expect-error an integer belongs to the older variant
  await client.products.create({ ...product, product_type: 1, gateways: [] });
  // @ts-expect-error text belongs to the newer variant
  await older.products.create({ ...product, product_type: 'file', gateways: [] });
  // @ts-expect-error gateways are required
  await client.products.create({ ...product, product_type: 'file' });
  // @ts-expect-error a misspelt parameter
  await client.products.update('prd_1', { descripton: 'D' });
  // @ts-expect-error a product of the newer variant has no webhook
  await client.products.update('prd_1', { webhook_url: 'https://shop.example' });
  await older.products.update('prd_1', { webhook_url: null });
  await client.products.update('prd_1', {}, { extra: { colour: 'red' } });
}

export async function whatCameBackCanBeSent() {
  const { title, price, gateways, custom, maximum_quantity } = await client.products.get('prd_1');
  await client.products.update('prd_1', { title, price, gateways, custom, maximum_quantity });
}

export async function aPaymentIsOfTheFlowThatWasAskedFor(isWhiteLabel: boolean) {
  const base = { title: 'T', email: 'e', currency: 'EUR', value: 5, gateway: 'bitcoin' };
  const return_url = 'https://shop.example';
  const hosted = await client.payments.create({ ...base, return_url });
  same<typeof hosted, HostedPayment>(true);
  const whiteLabel = await client.payments.create({ ...base, white_label: true });
  same<typeof whiteLabel, WhiteLabelPayment>(true);
  const payment = await client.payments.create({ ...base, return_url, white_label: isWhiteLabel });
  same<typeof payment, Payment>(true);
  // @ts-expect-error a customer has to return from the provider's page
  await client.payments.create(base);
  // @ts-expect-error a delete returns nothing
  (await client.payments.delete('pay_1')).id;
}

export async function anEndpointHearsOfWhatThereIs() {
  const url = 'https://shop.example/in';
  await client.webhookEndpoints.create({ url, events: ['order:paid', 'query:updated'] });
  // @ts-expect-error a mistyped event, which the endpoint would never get
  await client.webhookEndpoints.create({ url, events: ['order.paid'] });
  const names: string[] = ['order:paid'];
  // @ts-expect-error unknown parameters
  await client.webhookEndpoints.update('whe_1', { events: names });
  // Values of the provider can be sent back, including values that the types do not know yet.
  const { events = [] } = await client.webhookEndpoints.get('whe_1');
  await client.webhookEndpoints.update('whe_1', { events: [...events, 'order:paid'] });
  await client.webhookEndpoints.create({ url, events }, { extra: { events: ['order:later'] } });
  const chosen: SubscribedEvent[] = ['order:paid'];
  await client.webhookEndpoints.update('whe_1', { events: chosen });
}

export async function aGatewayIsKnownOrComesLater() {
  const payment = { title: 'T', email: 'e', currency: 'EUR', value: 5, white_label: true } as const;
  await client.payments.create({ ...payment, gateway: 'paypal' });
  await client.payments.create({ ...payment, gateway: 'later' });
}

export function onlyWhatIsThereCanBeCalled() {
  // @ts-expect-error orders cannot be created
  client.orders.create({});
  // @ts-expect-error a list takes no id
  client.orders.list('ord_1');
  // @ts-expect-error a get takes an id
  client.orders.get();
}

export function errorsAreToldApart(error: unknown) {
  if (error instanceof ApiError && error.code === 'not_found') return error.status;
  // @ts-expect-error a misspelt code
  return error instanceof ApiError && error.code === 'notfound';
}
