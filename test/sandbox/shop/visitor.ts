import { type Markets, openMarkets } from '../../../src/sandbox/markets.js';
import type { Market } from '../../../src/sandbox/trade/market.js';
import { openSeller } from '../seller.js';

/** The response for a page. */
export interface Visited {
  readonly status: number;
  readonly headers: Headers;
  /** The HTML. */
  readonly html: string;
  /** The `location` header, without the host of the sandbox. */
  readonly location: string | undefined;
}

/** A seller, and a customer who reads the HTML of the shop and sends its forms without a browser. */
export async function openVisitor(...options: Parameters<typeof openSeller>) {
  const seller = await openSeller(...options);
  const request = async (path: string, init?: RequestInit): Promise<Visited> => {
    const response = await seller.sandbox.fetch(`http://localhost${path}`, init);
    const { status, headers } = response;
    const location = headers.get('location') ?? undefined;
    return { status, headers, html: await response.text(), location };
  };
  const post = (
    path: string,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Visited> =>
    request(path, { method: 'POST', headers, body: new URLSearchParams(fields) });
  return {
    ...seller,
    get: (path: string) => request(path),
    post,
    /** Sends a form, follows the redirect, and returns the page. */
    async submit(...form: Parameters<typeof post>) {
      const { status, location } = await post(...form);
      if (status !== 303 || location === undefined) throw new Error(`The form got ${status}.`);
      return { ...(await request(location)), location };
    },
  };
}

/** Returns the errors of a form by field name. Throws unless the first one has the focus. */
export function faultsIn(html: string): Readonly<Record<string, string>> {
  const marked = html.matchAll(
    /<[^>]* name="([^"]+)"[^>]* aria-invalid="true" aria-describedby="([^"]+)" ?(autofocus)?/g,
  );
  const faults = Array.from(marked, ([, name = '', id, focus], index) => {
    if ((focus !== undefined) !== (index === 0)) throw new Error(`${name} has the wrong focus.`);
    const [, sentence = ''] =
      new RegExp(`<p class="fault" id="${id}">([^<]*)</p>`).exec(html) ?? [];
    return [name, sentence];
  });
  return Object.fromEntries(faults);
}

/** A sandbox with the given account as its only one. */
export function marketsOf(market: Market): Markets {
  const { key } = market.account;
  const markets = openMarkets({
    unknowns: market.unknowns,
    connect: () => market,
    journal: undefined,
    defaults: () => ({ clock: 'manual', start: 0 }),
  });
  markets.open(key);
  return markets;
}

/** The input of a customer. */
export const ORDER = {
  email: 'ada@example.com',
  country_code: 'GB',
  quantity: '1',
  gateway: 'paypal',
};
