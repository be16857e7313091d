import { createReceiver, type ReceiverOptions } from 'storefront-webhooks';
import { type Client, createClient } from 'storefront-webhooks/api';
import { type RecoverOptions, recover } from 'storefront-webhooks/recovery';
import { deliver, SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';

export const URL = 'https://shop.example/webhooks';
export const NOW = new Date('2026-11-20T12:00:00Z');
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export function ago(ms: number): string {
  return new Date(NOW.getTime() - ms).toISOString();
}

export type Entry = Record<string, unknown> & { readonly id: string };

/** The records of a provider, as its API returns them, and a hook for each request. */
export interface Provided {
  logs: Entry[];
  endpoints?: Entry[];
  orders?: Entry[];
  /** Called before each request. May return a response to use instead of the usual one. */
  onRequest?: (path: string, count: number, page: string | null) => Response | undefined;
  withoutTotal?: boolean;
}

/** A provider of another implementation: plain JSON, newest first, pages that shift. */
export function provider(provided: Provided): Client & { readonly asked: string[] } {
  const asked: string[] = [];
  const fetch = async (url: string, init: { method: string; body?: string }) => {
    const { pathname, searchParams } = new globalThis.URL(url);
    const path = `${init.method} ${pathname.replace('/api/v2', '')}`;
    asked.push(path);
    const instead = provided.onRequest?.(path, asked.length, searchParams.get('page'));
    if (instead) return instead;
    const { logs, endpoints = [ENDPOINT], orders = [] } = provided;
    if (init.method === 'POST') {
      const form = new URLSearchParams(init.body);
      const events = [...form].filter(([name]) => name.startsWith('events')).map(([, one]) => one);
      const made = { id: `ep_${asked.length}`, url: form.get('url'), events, enabled: true };
      provided.endpoints = [made, ...endpoints];
      return Response.json(made, { status: 201 });
    }
    const [, , collection, id] = /^(\w+) \/(.+?)(?:\/((?:whl|ord|ep)_[^/]*))?$/.exec(path) ?? [];
    const all = { 'webhooks/logs': logs, 'webhooks/endpoints': endpoints, orders }[
      collection ?? ''
    ];
    if (init.method === 'DELETE') {
      provided.endpoints = endpoints.filter((one) => one.id !== id);
      return new Response(null, { status: 204 });
    }
    if (id !== undefined) {
      const found = all?.find((one) => one?.id === id);
      return found ? Response.json(found) : Response.json({ message: 'None.' }, { status: 404 });
    }
    const size = Number(searchParams.get('per_page') ?? 20);
    const page = Number(searchParams.get('page') ?? 1);
    const headers: Record<string, string> = provided.withoutTotal
      ? {}
      : { 'X-Total-Pages': String(Math.max(1, Math.ceil((all?.length ?? 0) / size))) };
    return Response.json(all?.slice((page - 1) * size, page * size) ?? [], { headers });
  };
  const client = createClient({
    baseUrl: 'https://provider.example',
    auth: { accessToken: 'token' },
    fetch,
  });
  return Object.assign(client, { asked });
}

export const ENDPOINT = {
  ...{ id: 'ep_1', url: URL, enabled: true, events: ['order:paid'] },
  created_at: '2020-01-01T00:00:00Z',
};

/** An entry of the log. By default, it failed for good an hour ago. */
export function entry(number: number, changes: Record<string, unknown> = {}): Entry {
  const at = ago(60 * MINUTE - number);
  return {
    id: `whl_${number}`,
    url: URL,
    event: 'order:paid',
    payload: paid(number),
    response: 'Bad gateway',
    response_code: 502,
    response_headers: { 'content-type': 'text/html' },
    retries: 5,
    retry_limit: 5,
    next_retry_at: null,
    created_at: at,
    updated_at: at,
    ...changes,
  };
}

export function paid(number: number, changes: Record<string, unknown> = {}) {
  const at = ago(60 * MINUTE - number);
  return {
    id: `ord_${number}`,
    status: 100,
    email: 'buyer@example.com',
    value: 9.99,
    currency: 'USD',
    created_at: at,
    updated_at: at,
    ...changes,
  };
}

/** A shop that records its deliveries. */
export function openShop(options: Partial<Omit<ReceiverOptions, 'events'>> = {}) {
  const delivered: string[] = [];
  const store = options.store ?? durableStore();
  const quiet = { onRejected() {}, onError() {} };
  const receiver = createReceiver<Record<never, never>>({
    secret: SECRET,
    hooks: quiet,
    ...options,
    store,
  })
    .on('order:paid', ({ payload: { id } }) => void delivered.push(id))
    .on('query:created', () => {});
  return { receiver, delivered, store };
}

/** A shop whose paid orders are safe to run without a log entry. */
export function openOncePerOrder(options: Partial<Omit<ReceiverOptions, 'events'>> = {}) {
  const delivered: string[] = [];
  const receiver = createReceiver({
    secret: SECRET,
    ...options,
    store: durableStore(),
  })
    .on('order:paid', ({ payload: { id } }) => void delivered.push(id), {
      name: 'deliver',
      oncePer: ({ id }) => id,
    })
    .on('query:created', () => {});
  return { receiver, delivered };
}

type Shop = ReturnType<typeof openShop>;

/** Recovers from a provider with apply and without pauses. */
export function recoverFrom(
  provided: Provided,
  { receiver }: Pick<Shop, 'receiver'>,
  options: Partial<RecoverOptions> = {},
) {
  const client = options.client ?? provider(provided);
  const fast = { perSecond: Number.POSITIVE_INFINITY, now: NOW, apply: true };
  return recover({ receiver, client, url: URL, ...fast, ...options });
}

/** An entry by which a receiver and its store are known to have answered for long. */
export function live(
  shop: Pick<Shop, 'receiver'>,
  { url = URL, age = 9 * DAY } = {},
): Promise<Entry> {
  const long = { created_at: ago(age), updated_at: ago(age) };
  return answered(
    shop,
    entry(0, { ...long, url, id: 'whl_live', event: 'query:created', payload: { id: 'qry_1' } }),
  );
}

/** The entry that the provider writes for an answer of the receiver. */
export async function answered(shop: Pick<Shop, 'receiver'>, one: Entry): Promise<Entry> {
  const { pathname, search } = new globalThis.URL(`${one.url}`);
  const { status, headers, body } = await deliver(shop.receiver, one.payload, {
    ...{ event: `${one.event}`, id: one.id, url: pathname + search },
  });
  return { ...one, response_code: status, response: body, response_headers: { ...headers } };
}
