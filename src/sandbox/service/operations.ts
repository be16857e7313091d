import type { endpoints } from '../../api/endpoints.js';
import type { Account } from '../state/account.js';
import type { Identified, RecordPage, Records } from '../state/records.js';
import type { Market } from '../trade/market.js';
import type { Sent } from './form.js';

/** A request that is ready for its operation. */
export interface Call {
  readonly market: Market;
  /** The id of the record in the path; empty if the path has no id. */
  readonly id: string;
  /** The parameters in the body, if there is one. */
  readonly sent: Sent;
  /** The URL of the request, by which the client reaches the sandbox. */
  readonly url: string;
}

/**
 * The operations of a group of endpoints, by kind. They return `undefined` or `false` if the record does not
 * exist.
 */
export interface Operations {
  list(market: Market, page: number, perPage: number): RecordPage<object>;
  get(call: Call): object | undefined;
  create(call: Call): object;
  update(call: Call): object | undefined;
  delete(call: Call): boolean;
}

/** The operations of each group in the endpoint table. */
export type Service = {
  readonly [Group in keyof typeof endpoints]: Pick<
    Operations,
    Extract<keyof (typeof endpoints)[Group], keyof Operations>
  >;
};

/** Returns the operations that list and retrieve records. `show` makes the answer for a record. */
export function reading<T extends Identified>(
  recordsOf: (account: Account) => Records<T>,
  show: (record: T, market: Market) => object,
): Pick<Operations, 'list' | 'get'> {
  return {
    list(market, page, perPage) {
      const { items, totalPages } = recordsOf(market.account).page(page, perPage);
      return { items: items.map((record) => show(record, market)), totalPages };
    },
    get({ market, id }) {
      const record = recordsOf(market.account).get(id);
      return record && show(record, market);
    },
  };
}
