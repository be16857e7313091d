import type { KeptOrder } from '../state/kinds.js';
import { buy, type Purchase } from '../trade/buy.js';
import { ask, rate, write } from '../trade/customers.js';
import type { Market } from '../trade/market.js';
import { confirm, pay } from '../trade/pay.js';
import { chargeBack, expire, refund } from '../trade/reverse.js';
import { type Item, idOf } from './catalogue.js';

type Step = (market: Market, orderId: string) => KeptOrder;

interface PastOrder extends Omit<Purchase, 'product_id'> {
  readonly item: Item;
  readonly hoursAgo: number;
  /** The steps since then, a quarter of an hour apart. */
  readonly steps?: readonly Step[];
  readonly feedback?: { readonly rating: number; readonly message: string };
}

const ines = { email: 'ines@example.org', country_code: 'PT', ip_address: '198.51.100.23' };
const tomasz = { email: 'tomasz@example.net', country_code: 'PL', ip_address: '203.0.113.81' };
const amara = { email: 'amara@example.com', country_code: 'NG', ip_address: '192.0.2.146' };
const yuki = { email: 'yuki@example.org', country_code: 'JP', ip_address: '198.51.100.201' };
const joel = { email: 'joel@example.net', country_code: 'CA', ip_address: '203.0.113.12' };
const mallory = { email: 'mallory@example.net', country_code: 'US', ip_address: '192.0.2.66' };

const paid: Step = (market, id) => pay(market, id);
const confirmed: Step = (market, id) => confirm(market, id);
const pending: Step = (market, id) => pay(market, id, { pending: true });

/** The past orders, oldest first. Every status occurs. */
const ORDERS: readonly PastOrder[] = [
  {
    ...{ item: 'synth', hoursAgo: 139, ...ines, gateway: 'paypal', steps: [paid] },
    feedback: { rating: 5, message: 'It does grow slowly. I love it.' },
  },
  { item: 'delay', hoursAgo: 128, ...mallory, gateway: 'stripe', steps: [paid, chargeBack] },
  { item: 'synth', hoursAgo: 121, ...tomasz, gateway: 'bitcoin', steps: [paid, confirmed] },
  { item: 'reverb', hoursAgo: 112, ...mallory, gateway: 'stripe', risk_level: 78 },
  {
    ...{ item: 'rain', hoursAgo: 99, ...amara, gateway: 'stripe', steps: [paid] },
    feedback: { rating: 4, message: 'Lovely. A list of the takes would help.' },
  },
  { item: 'piano', hoursAgo: 93, ...yuki, gateway: 'paypal', steps: [expire] },
  {
    ...{ item: 'voucher', hoursAgo: 77, ...joel, gateway: 'paypal', steps: [paid] },
    custom: { 'Name on the voucher': 'Camille' },
  },
  { item: 'synth', hoursAgo: 70, ...yuki, gateway: 'stripe', steps: [paid] },
  { item: 'delay', hoursAgo: 52, ...joel, gateway: 'paypal', steps: [paid, refund] },
  { item: 'piano', hoursAgo: 47, ...yuki, gateway: 'ethereum', steps: [paid, confirmed] },
  { item: 'delay', hoursAgo: 31, ...amara, gateway: 'stripe', quantity: 1, steps: [paid] },
  { item: 'pass', hoursAgo: 22, ...tomasz, gateway: 'skrill', steps: [paid] },
  {
    ...{ item: 'mixing', hoursAgo: 9, ...ines, gateway: 'paypal', steps: [pending] },
    custom: {
      customer_name: 'Inês Duarte',
      customer_address: 'Rua das Flores 12, Porto',
      'What should we listen for?': 'The low end, please.',
      'Publish the feedback': false,
    },
  },
  {
    ...{ item: 'reverb', hoursAgo: 5, ...amara, gateway: 'litecoin', quantity: 2 },
    steps: [(market, id) => pay(market, id, { value: '50' })],
  },
  { item: 'reverb', hoursAgo: 3, ...joel, gateway: 'bitcoin', steps: [paid, confirmed] },
  { item: 'rain', hoursAgo: 1, ...yuki, gateway: 'paypal' },
];

const QUARTER = 900_000;

/** Creates the orders, feedback and query of the last days, and moves the market's clock on the way. */
export async function play(market: Market, now: number): Promise<void> {
  const { clock } = market.account;
  for (const [index, { item, hoursAgo, steps = [], feedback, ...purchase }] of ORDERS.entries()) {
    await clock.advance(now - hoursAgo * 3_600_000 - clock.now());
    const id = idOf('ord', String(index));
    buy(market, { ...purchase, product_id: idOf('prd', item) }, id);
    for (const step of steps) {
      await clock.advance(QUARTER);
      step(market, id);
    }
    await clock.advance(QUARTER);
    if (feedback) rate(market, id, feedback);
  }
  block(market);
  const { id } = ask(market, QUERY, idOf('qry', QUERY.title));
  await clock.advance(QUARTER / 3);
  write(market, id, { from: 'seller', text: 'Yes: three computers, and you may change them.' });
}

const QUERY = {
  email: joel.email,
  title: 'Two computers?',
  message: 'Can I use one key of Halden Reverb in the studio and at home?',
};

function block({ account }: Market): void {
  account.blacklist.put({
    id: idOf('blk', mallory.email),
    blacklist_type: 1,
    blocked_data: mallory.email,
    note: 'Charged back a delay, and tried again.',
    ...account.clock.dates(),
  });
}
