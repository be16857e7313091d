import { Faults } from '../../../src/sandbox/faults.js';
import { Account } from '../../../src/sandbox/state/account.js';
import type { KeptProduct } from '../../../src/sandbox/state/kinds.js';
import type { Change, Market } from '../../../src/sandbox/trade/market.js';
import { chooseUnknowns, type Unknowns } from '../../../src/sandbox/unknowns.js';

/** A market that records its webhooks. */
export interface Stall {
  readonly market: Market;
  readonly changes: Change[];
  /** The orders of dynamic products for which the market requested goods. */
  readonly supplied: string[];
  /** Returns the webhooks since the last call, as `event status`. */
  heard(): string[];
  /** Puts a product on sale. */
  offer(fields?: Partial<KeptProduct>): KeptProduct;
}

const PRODUCT: KeptProduct = {
  id: 'prd_1',
  title: 'Tuner',
  description: '',
  price: '10.00',
  currency: 'USD',
  product_type: 'serials',
  gateways: ['paypal', 'bitcoin'],
  image: null,
  info: 'A,B,C',
  file: null,
  stock_delimiter: ',',
  maximum_quantity: null,
  minimum_quantity: 1,
  stock_amount: null,
  dynamic_url: null,
  custom: [],
  customer_details_required: false,
  warranty: null,
  warranty_duration: null,
  redirect_url: null,
  unlisted: false,
  private: false,
  hide_stock: false,
  vpn_block: false,
  seller_note: null,
  max_risk_level: 30,
  crypto_confirmations: 2,
  webhook_url: null,
  created_at: '2026-01-05T09:00:00.000000+00:00',
  updated_at: '2026-01-05T09:00:00.000000+00:00',
};

export function openStall(unknowns: Partial<Unknowns> = {}): Stall {
  const changes: Change[] = [];
  const supplied: string[] = [];
  const account = new Account('sk_test_stall', { clock: 'manual', start: Date.UTC(2026, 0, 5) });
  const market: Market = {
    account,
    unknowns: chooseUnknowns(unknowns),
    faults: new Faults(),
    outbox: { announce: (one) => changes.push(one), takes: () => true, idle: async () => {} },
    supplier: { supply: ({ id }) => supplied.push(id) },
  };
  let heard = 0;
  return {
    market,
    changes,
    supplied,
    heard() {
      const latest = changes.slice(heard);
      heard = changes.length;
      return latest.map(({ event, payload }) =>
        event.startsWith('order:') ? `${event} ${payload.status}` : event,
      );
    },
    offer: (fields = {}) => account.products.put({ ...PRODUCT, ...fields }),
  };
}
