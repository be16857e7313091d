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
import { type Identified, Records } from './records.js';

/** What the key of every account begins with. */
export const KEY_PREFIX = 'sk_test_';

/** What a new account begins with. */
export interface AccountDefaults {
  readonly clock: ClockMode;
  /** Milliseconds since 1970. */
  readonly start: number;
  readonly gateways?: readonly string[] | undefined;
  readonly webhookSecret?: string | undefined;
}

/** An account of a seller: its records, settings and time. */
export class Account {
  /** Such as `sk_test_alpha`. */
  readonly key: string;
  readonly clock: Clock;
  readonly #changes: Changes;
  readonly #settings: Records<Settings>;
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
    const restore = new Map<string, (place: number, value: unknown) => void>();
    const records = <T extends Identified>(kind: string): Records<T> => {
      const made = new Records<T>(kind, this.#changes);
      // As put() has had it written.
      restore.set(kind, (place, value) => made.restore(place, value as T));
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
    for (const { kind, place, value } of journal?.load(key) ?? []) {
      restore.get(kind)?.(place, value);
    }
    if (this.#settings.size === 0) {
      this.#settings.put({
        id: 'settings',
        gateways: defaults.gateways ?? GATEWAYS,
        webhook_secret: defaults.webhookSecret ?? `whsec_${key}`,
        read_only: false,
        clock: null,
      });
    }
    const moved = this.settings.clock;
    this.clock = new Clock({
      mode: defaults.clock,
      start: moved ? moved.time + sinceThen(moved.outside, defaults.clock) : defaults.start,
      onMoved: (time) => this.set({ clock: { time, outside: Date.now() } }),
    });
  }

  /** The key without what every key begins with. */
  get name(): string {
    return this.key.slice(KEY_PREFIX.length);
  }

  get settings(): Settings {
    const [settings] = this.#settings;
    if (!settings) throw new Error('An account has settings from its beginning.');
    return settings;
  }

  /** Changes settings. */
  set(changes: Partial<Omit<Settings, 'id'>>): void {
    this.#settings.put({ ...this.settings, ...changes });
  }

  /** Makes changes that belong together: {@link Changes.transact}. */
  transact<Result>(work: () => Result): Result {
    return this.#changes.transact(work);
  }

  /** Has something run once the changes are kept: what the world outside is told. */
  afterwards(run: () => void): void {
    this.#changes.afterwards(run);
  }
}

/** What has gone by outside while the sandbox was not running, where that counts. */
function sinceThen(outside: number, mode: ClockMode): number {
  return mode === 'real' ? Date.now() - outside : 0;
}
