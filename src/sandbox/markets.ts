import { Faults } from './faults.js';
import { Account, type AccountDefaults, isKey, KEY_PREFIX } from './state/account.js';
import type { Journal } from './state/journal.js';
import type { Market } from './trade/market.js';
import type { Unknowns } from './unknowns.js';

/** The markets of all accounts in a sandbox. */
export interface Markets extends Iterable<Market> {
  readonly unknowns: Unknowns;
  /** The faults of all accounts. */
  readonly faults: Faults;
  /** Returns the market of a key. The first use of a key creates its account. */
  open(key: string): Market;
  /** Returns the market of a name, which is a key without `sk_test_`, if its account exists. */
  find(name: string): Market | undefined;
}

interface Parts {
  readonly unknowns: Unknowns;
  /** Connects an account to the sender of its webhooks and the supplier of its goods. */
  readonly connect: (place: Omit<Market, 'outbox' | 'supplier'>, everywhere: Faults) => Market;
  readonly journal: Journal | undefined;
  /** Returns the defaults of the next new account. */
  readonly defaults: () => AccountDefaults;
}

/** Opens the market of every account that has records in the journal. */
export function openMarkets({ unknowns, connect, journal, defaults }: Parts): Markets {
  const faults = new Faults();
  const opened = new Map<string, Market>();
  const markets: Markets = {
    unknowns,
    faults,
    open(key) {
      const found = opened.get(key);
      if (found) return found;
      const account = new Account(key, defaults(), journal);
      const market = connect({ account, unknowns, faults: new Faults() }, faults);
      opened.set(key, market);
      return market;
    },
    find: (name) => opened.get(KEY_PREFIX + name),
    [Symbol.iterator]: () => opened.values(),
  };
  for (const key of journal?.accounts() ?? []) if (isKey(key)) markets.open(key);
  return markets;
}
