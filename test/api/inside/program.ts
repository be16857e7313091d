import { ApiError, createClient } from 'storefront-webhooks/api';

/** Calls a provider in every way that may differ between runtimes, and returns the results. */
export async function callProvider(baseUrl: string, nobody: string) {
  const auth = { email: 'sëller@example.com', apiKey: 'kéy∞' };
  const client = createClient({ baseUrl, auth, variant: 'older' });
  const hasty = createClient({ baseUrl, auth, timeout: 300, retries: 0 });
  const alone = createClient({ baseUrl: nobody, auth, retries: 0 });

  const orders: string[] = [];
  for await (const { id } of client.orders.list({ perPage: 10 })) orders.push(id);
  const entry = { blacklist_type: 1, blocked_data: 'a+b@example.com', note: '∞ & ü' };
  const { note } = await client.blacklist.create(entry);
  await client.products.delete('prd/1');
  return {
    orders,
    note,
    retried: (await client.products.get('flaky')).title,
    missing: await codeOf(client.products.get('missing')),
    moved: await codeOf(client.products.get('moved')),
    silent: await codeOf(hasty.products.get('silent')),
    unreachable: await codeOf(alone.products.get('prd_1')),
    aborted: await codeOf(client.products.get('silent', { signal: AbortSignal.timeout(100) })),
  };
}

async function codeOf(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiError) return [error.code, error.status ?? null];
    return error instanceof Error ? error.name : 'no error';
  }
}
