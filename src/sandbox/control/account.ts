import type { FaultPlan } from '../faults.js';
import { seed } from '../seed/seed.js';
import type { Settings, ShownOrder } from '../state/kinds.js';
import { buy, type Purchase } from '../trade/buy.js';
import { ask, rate, write } from '../trade/customers.js';
import type { Market } from '../trade/market.js';
import { confirm, type Paying, pay } from '../trade/pay.js';
import { chargeBack, expire, refund } from '../trade/reverse.js';
import { advance } from './advance.js';
import { checkCall, PARAMETERS } from './parameters.js';

/** The settings of an account, by the names of `/sandbox/settings`. */
export type AccountSettings = Pick<Settings, 'gateways' | 'webhook_secret' | 'read_only'>;

/**
 * An account of a sandbox, with everything that customers, their banks and the seller can do. An action that the
 * shop does not allow rejects with a {@link Refusal}.
 *
 * @example
 * const account = sandbox.account('sk_test_alpha');
 * const order = await account.buy({ product_id: product.id });
 * await account.pay(order.id);
 */
export interface SandboxAccount {
  readonly key: string;
  readonly settings: AccountSettings;
  /** The clock of this account. */
  readonly clock: {
    /** Milliseconds since 1970. */
    now(): number;
    /** Waits until no webhook is being sent, then moves the time ahead and runs everything due on the way. */
    advance(ms: number): Promise<void>;
  };
  /** The faults of this account. */
  readonly faults: FaultPlan;
  /** A customer orders a product. */
  buy(purchase: Purchase): Promise<ShownOrder>;
  /** A customer pays an order, or a part of it. */
  pay(orderId: string, paying?: Paying): Promise<ShownOrder>;
  /** A payment gets its next confirmations. Default: one. */
  confirm(orderId: string, confirmations?: number): Promise<ShownOrder>;
  /** The seller gives the money back. */
  refund(orderId: string): Promise<ShownOrder>;
  /** The bank takes the money back. */
  chargeBack(orderId: string): Promise<ShownOrder>;
  /** An order that was not fully paid is closed. */
  expire(orderId: string): Promise<ShownOrder>;
  /** A customer asks the seller a question. Resolves to the id of the query. */
  ask(question: Parameters<typeof ask>[1]): Promise<{ readonly id: string }>;
  /** The seller replies to a query, or the customer writes again. */
  write(queryId: string, message: Parameters<typeof write>[2]): Promise<void>;
  /** A customer gives feedback on an order, or changes it. Resolves to the id of the feedback. */
  rate(orderId: string, feedback: Parameters<typeof rate>[2]): Promise<{ readonly id: string }>;
  /** Resolves when no webhook is being sent. Does not wait for scheduled work, such as a retry. */
  idle(): Promise<void>;
  /**
   * Fills the account with a shop that has sold for some days. The shop is the same each time, and no webhook is
   * sent about its past.
   *
   * @throws {Refusal} `state_invalid`, if the account has any records of a shop.
   */
  seed(): Promise<void>;
  /**
   * Changes the given settings.
   *
   * @throws {Refusal} `parameter_invalid`, for example if the secret is empty or there is no such gateway.
   */
  set(settings: Partial<AccountSettings>): void;
  /** Deletes the account's records and faults, and restores its initial settings. Its time stays. */
  reset(): void;
}

/** Returns the account as programs use it. */
export function toSandboxAccount(market: Market): SandboxAccount {
  const { account, faults, outbox } = market;
  const { clock } = account;
  return {
    key: account.key,
    get settings() {
      const { gateways, webhook_secret, read_only } = account.settings;
      return { gateways, webhook_secret, read_only };
    },
    clock: { now: () => clock.now(), advance: (ms) => advance(market, ms) },
    faults,
    buy: (purchase) => clock.during(() => buy(market, checkCall(PARAMETERS.buy, purchase)).shown),
    pay: (id, paying = {}) =>
      clock.during(() => pay(market, id, checkCall(PARAMETERS.pay, paying)).shown),
    confirm: (id, count) =>
      clock.during(() => {
        const { confirmations } = checkCall(PARAMETERS.confirm, { confirmations: count });
        return confirm(market, id, confirmations).shown;
      }),
    refund: (id) => clock.during(() => refund(market, id).shown),
    chargeBack: (id) => clock.during(() => chargeBack(market, id).shown),
    expire: (id) => clock.during(() => expire(market, id).shown),
    ask: (question) =>
      clock.during(() => ({ id: ask(market, checkCall(PARAMETERS.ask, question)).id })),
    write: (id, message) =>
      clock.during(() => void write(market, id, checkCall(PARAMETERS.write, message))),
    rate: (id, feedback) =>
      clock.during(() => ({ id: rate(market, id, checkCall(PARAMETERS.rate, feedback)).id })),
    idle: () => outbox.idle(),
    seed: () => clock.during(() => seed(market)),
    set: (settings) => account.set(checkCall(PARAMETERS.set, settings)),
    reset() {
      account.reset();
      faults.clear();
    },
  };
}
