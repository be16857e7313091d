import { Faults } from './faults.js';
import { Account, type AccountDefaults, KEY_PREFIX } from './state/account.js';
import type { Journal } from './state/journal.js';
import type { Market } from './trade/market.js';
import type { Unknowns } from './unknowns.js';

/** All accounts of a sandbox, and what each of them sells in. */
export interface Markets extends Iterable<Market> {
  readonly unknowns: Unknowns;
  /** What goes wrong in all accounts. */
  readonly faults: Faults;
  /** The account of a key, which is made when it is first asked for. */
  open(key: string): Market;
  /** The account of a name, which is its key without `sk_test_`, if there is one. */
  find(name: string): Market | undefined;
}

interface Parts {
  readonly unknowns: Unknowns;
  /** Has the webhooks of an account sent, and its goods made. */
  readonly connect: (place: Omit<Market, 'outbox' | 'supplier'>, everywhere: Faults) => Market;
  readonly journal: Journal | undefined;
  /** What the next new account begins with. */
  readonly defaults: () => AccountDefaults;
}

/** Opens every account that the journal has something of. */
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
  for (const key of journal?.accounts() ?? []) markets.open(key);
  return markets;
}
