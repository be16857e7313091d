import type { endpoints } from '../../api/endpoints.js';
import type { Account } from '../state/account.js';
import type { Identified, RecordPage, Records } from '../state/records.js';
import type { Market } from '../trade/market.js';
import type { Sent } from './form.js';

/** A request that has got as far as its operation. */
export interface Call {
  readonly market: Market;
  /** Of the record that the path names; empty where it names none. */
  readonly id: string;
  /** The body; nothing where there is none. */
  readonly sent: Sent;
  /** The address that was asked, by which the sandbox can be reached. */
  readonly url: string;
}

/** What an endpoint does, by its kind. Where there is no such record, it gives `undefined` or `false`. */
export interface Operations {
  list(market: Market, page: number, perPage: number): RecordPage<object>;
  get(call: Call): object | undefined;
  create(call: Call): object;
  update(call: Call): object | undefined;
  delete(call: Call): boolean;
}

/** What the endpoints of each group in the table do. */
export type Service = {
  readonly [Group in keyof typeof endpoints]: Pick<
    Operations,
    Extract<keyof (typeof endpoints)[Group], keyof Operations>
  >;
};

/** Lists and retrieves records, as they are shown. */
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
