import { GATEWAYS } from '../../schemas/product.js';
import { Clock, type ClockMode } from '../clock.js';
import { Changes } from './changes.js';
import type { Journal } from './journal.js';
import type {
  KeptBlacklistEntry,
  KeptCategory,
  KeptFeedback,
  KeptOrder,
  KeptPayment,
  KeptProduct,
  KeptQuery,
  KeptWebhookEndpoint,
  KeptWebhookLog,
  Settings,
} from './kinds.js';
import { findLatest } from './latest.js';
import { type Identified, Records, withChanges } from './records.js';

/** The prefix of every account's key. */
export const KEY_PREFIX = 'sk_test_';

/** Returns whether a text can be the key of an account. */
export function isKey(text: string): boolean {
  return text.startsWith(KEY_PREFIX) && /^[\x21-\x7e]{1,200}$/.test(text.slice(KEY_PREFIX.length));
}

/** The initial settings and time of an account. */
export interface AccountDefaults {
  readonly clock: ClockMode;
  /** Milliseconds since 1970. */
  readonly start: number;
  readonly gateways?: readonly string[] | undefined;
  readonly webhookSecret?: string | undefined;
}

/** The settings that were changed. The others follow the defaults, which another start may change. */
type ChangedSettings = Pick<Settings, 'id'> & Partial<Settings>;

/** All records of a kind. */
interface Kind {
  restore(place: number, value: unknown): void;
  clear(): void;
}

/** An account of a seller: its records, settings and time. */
export class Account {
  /** The key, such as `sk_test_alpha`. */
  readonly key: string;
  readonly clock: Clock;
  readonly #changes: Changes;
  readonly #kinds = new Map<string, Kind>();
  readonly #initial: Settings;
  readonly #settings: Records<ChangedSettings>;
  readonly products: Records<KeptProduct>;
  readonly categories: Records<KeptCategory>;
  readonly orders: Records<KeptOrder>;
  readonly payments: Records<KeptPayment>;
  readonly blacklist: Records<KeptBlacklistEntry>;
  readonly webhookEndpoints: Records<KeptWebhookEndpoint>;
  readonly webhookLogs: Records<KeptWebhookLog>;
  readonly queries: Records<KeptQuery>;
  readonly feedback: Records<KeptFeedback>;

  constructor(key: string, defaults: AccountDefaults, journal?: Journal) {
    this.key = key;
    this.#changes = new Changes(key, journal);
    const records = <T extends Identified>(kind: string): Records<T> => {
      const made = new Records<T>(kind, this.#changes);
      this.#kinds.set(kind, {
        // The journal has what put() has written for this kind.
        restore: (place, value) => made.restore(place, value as T),
        clear: () => made.clear(),
      });
      return made;
    };
    this.#settings = records('settings');
    this.products = records('products');
    this.categories = records('categories');
    this.orders = records('orders');
    this.payments = records('payments');
    this.blacklist = records('blacklist');
    this.webhookEndpoints = records('webhook_endpoints');
    this.webhookLogs = records('webhook_logs');
    this.queries = records('queries');
    this.feedback = records('feedback');
    const stored = journal?.load(key) ?? [];
    for (const { kind, place, value } of stored) {
      this.#kinds.get(kind)?.restore(place, value);
    }
    this.#initial = {
      id: 'settings',
      gateways: defaults.gateways ?? GATEWAYS,
      webhook_secret: defaults.webhookSecret ?? `whsec_${key}`,
      read_only: false,
      clock: null,
    };
    const moved = this.settings.clock;
    this.clock = new Clock({
      mode: defaults.clock,
      start: moved ? moved.time + sinceThen(moved.outside, defaults.clock) : defaults.start,
      last: findLatest(stored),
      onMoved: (time) => this.set({ clock: { time, outside: Date.now() } }),
    });
  }

  /** The key without its prefix. */
  get name(): string {
    return this.key.slice(KEY_PREFIX.length);
  }

  get settings(): Settings {
    return { ...this.#initial, ...this.#settings.get('settings') };
  }

  set(changes: { readonly [Name in keyof Settings]?: Settings[Name] | undefined }): void {
    const changed: ChangedSettings = this.#settings.get('settings') ?? { id: 'settings' };
    this.#settings.put(withChanges(changed, changes));
  }

  /** Deletes every record, cancels every timer, and restores the initial settings. The time stays. */
  reset(): void {
    const { clock } = this.settings;
    this.clock.clear();
    this.transact(() => {
      for (const kind of this.#kinds.values()) kind.clear();
      this.set({ clock });
    });
  }

  /** Makes changes in a transaction: {@link Changes.transact}. */
  transact<Result>(work: () => Result): Result {
    return this.#changes.transact(work);
  }

  /** Runs a callback after the changes are stored, such as sending their webhooks. */
  afterwards(run: () => void): void {
    this.#changes.afterwards(run);
  }
}

/** Returns the time that passed while the sandbox was not running. Only a real clock counts it. */
function sinceThen(outside: number, mode: ClockMode): number {
  return mode === 'real' ? Date.now() - outside : 0;
}
