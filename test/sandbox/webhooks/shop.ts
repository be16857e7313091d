import type { ClockMode } from '../../../src/sandbox/clock.js';
import { Faults } from '../../../src/sandbox/faults.js';
import { Account } from '../../../src/sandbox/state/account.js';
import type { Journal } from '../../../src/sandbox/state/journal.js';
import type { KeptProduct, KeptWebhookLog } from '../../../src/sandbox/state/kinds.js';
import { buy } from '../../../src/sandbox/trade/buy.js';
import { newId } from '../../../src/sandbox/trade/ids.js';
import { pay } from '../../../src/sandbox/trade/pay.js';
import { chooseUnknowns, type Unknowns } from '../../../src/sandbox/unknowns.js';
import type { WebhookSettings } from '../../../src/sandbox/webhooks/sender.js';
import { openWebhooks } from '../../../src/sandbox/webhooks/webhooks.js';

export const SECRET = 'a secret for tests';
export const START = Date.parse('2026-11-20T10:00:00Z');

interface ShopOptions extends WebhookSettings {
  readonly clock?: ClockMode;
  readonly unknowns?: Partial<Unknowns>;
  readonly journal?: Journal;
}

/** An account that sells and sends its webhooks. */
export function openShop({
  clock = 'manual',
  unknowns = {},
  journal,
  ...settings
}: ShopOptions = {}) {
  const defaults = { clock, start: START, webhookSecret: SECRET };
  const account = new Account('sk_test_shop', defaults, journal);
  const faults = new Faults();
  const place = { account, faults, unknowns: chooseUnknowns(unknowns) };
  // The time limit of an attempt is real time, even with a manual clock. A slow machine must not reach it.
  const { market, close } = openWebhooks(place, { timeout: 120_000, ...settings });
  return {
    account,
    market,
    faults,
    idle: () => market.outbox.idle(),

    async close() {
      await close();
      account.clock.close();
    },

    subscribe(url: string, events: readonly string[] = ['order:created']) {
      const now = account.clock.timestamp();
      const dates = { created_at: now, updated_at: now };
      return account.webhookEndpoints.put({
        id: newId('whe'),
        url,
        enabled: true,
        events,
        ...dates,
      });
    },

    product(changes: Partial<KeptProduct> = {}): KeptProduct {
      return account.products.put({ ...PRODUCT, id: newId('prd'), ...changes });
    },

    /** Orders a product, by default any, which sends `order:created`. */
    order(product?: KeptProduct) {
      return buy(market, { product_id: (product ?? this.product()).id });
    },

    pay: (id: string) => pay(market, id),

    /** Orders a product and pays for it. */
    sell(product?: KeptProduct) {
      return pay(market, this.order(product).id);
    },

    /** The logs, oldest first. */
    logs(): KeptWebhookLog[] {
      return [...account.webhookLogs].reverse();
    },
  };
}

const PRODUCT: Omit<KeptProduct, 'id'> = {
  title: 'Pocket Tuner',
  description: 'Tunes.',
  price: '9.90',
  currency: 'USD',
  product_type: 'service',
  gateways: ['paypal'],
  image: null,
  info: null,
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
  crypto_confirmations: 1,
  webhook_url: null,
  created_at: '2026-11-20T09:00:00.000000+00:00',
  updated_at: '2026-11-20T09:00:00.000000+00:00',
};
