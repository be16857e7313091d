import type { IdempotencyStore } from 'storefront-webhooks';
import { createClient } from 'storefront-webhooks/api';
import {
  type Reconciliation,
  type RecoverOptions,
  type Recovery,
  reconcile,
  recover,
} from 'storefront-webhooks/recovery';
import { createSandbox } from 'storefront-webhooks/sandbox';
import { seeded } from '../../sandbox/random.js';
import { type Answering, openShop } from './shop.js';

const HOUR = 60 * 60_000;
export const HOURS = 72;

/** A fault that lasts for a while. Hours count from the beginning. */
export interface Act {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly answering: Answering;
  /** How many answers are lost on their way. A delivery is missed if the answers to all its retries are lost, too. */
  readonly losesAnswers?: number;
}

/** The faults of the three days. Between them, everything works. */
export const ACTS: readonly Act[] = [
  { name: 'a maintenance page answers 200', from: 10, to: 15, answering: 'maintenance' },
  { name: 'answers are lost', from: 20, to: 24, answering: 'receiver', losesAnswers: 80 },
  { name: 'the server is down', from: 30, to: 38, answering: 'nobody' },
];
/** When the operator notices that the endpoint is disabled. */
const RECOVERY_AT = 60;

/** The counts at an hour. */
export interface Point {
  readonly hour: number;
  readonly paid: number;
  /** The number of delivered orders, each counted once. */
  readonly delivered: number;
}

/** The result of the three days. */
export interface Drill {
  readonly points: readonly Point[];
  /** The hour in which the endpoint was disabled; `undefined` if it never was. */
  readonly disabledAt: number | undefined;
  readonly recoveredAt: number;
  readonly missingBefore: number;
  readonly recovery: Recovery;
  readonly reconciliation: Reconciliation;
  readonly paid: number;
  readonly once: number;
  readonly missing: number;
  /** The number of orders whose goods or mail went out more than once. */
  readonly twice: number;
}

export interface DrillOptions {
  readonly store: IdempotencyStore;
  readonly orders: number;
  readonly seed: number;
  /** Called with what happens, and the hour. */
  readonly tell?: (hour: number, what: string, point: Point) => void;
  /** Replaces `recover`, for a test that kills it. */
  readonly recoverBy?: (options: RecoverOptions) => Promise<Recovery>;
}

/** Plays three days of a shop in which everything goes wrong, and recovers the missed deliveries. */
export async function playDrill(options: DrillOptions): Promise<Drill> {
  const { store, orders, seed, tell = () => {}, recoverBy = recover } = options;
  const random = seeded(seed);
  const sandbox = createSandbox({ clock: 'manual' });
  const account = sandbox.account('sk_test_drill');
  const shop = await openShop(account.settings.webhook_secret, store);
  try {
    const client = createClient({
      baseUrl: 'http://localhost',
      auth: { accessToken: account.key },
      fetch: sandbox.fetch,
    });
    await client.webhookEndpoints.create({ url: shop.url, events: ['order:paid'] });
    const product = await client.products.create({
      title: 'Licence',
      description: 'A key.',
      product_type: 'service',
      price: '9.90',
      currency: 'EUR',
      gateways: ['paypal'],
    });
    const start = account.clock.now();
    const paid: string[] = [];
    const points: Point[] = [];
    let disabledAt: number | undefined;
    const isDisabled = async () =>
      (await client.webhookEndpoints.list()).items.every(({ enabled }) => enabled === false);
    const standAt = (hour: number): Point => {
      const point = { hour, paid: paid.length, delivered: shop.delivered.size };
      points.push(point);
      return point;
    };
    const goTo = async (hour: number) => {
      const ms = start + hour * HOUR - account.clock.now();
      if (ms > 0) await account.clock.advance(ms);
      await account.idle();
    };
    const happens = {
      async pay(hour: number) {
        const { id } = await account.buy({ product_id: product.id, gateway: 'paypal' });
        await account.pay(id);
        await account.idle();
        paid.push(id);
        if (disabledAt === undefined && (await isDisabled())) {
          disabledAt = hour;
          tell(hour, 'the provider disables the endpoint', standAt(hour));
        } else standAt(hour);
      },
      async begin(hour: number, { name, answering, losesAnswers }: Act) {
        await shop.answer(answering);
        if (losesAnswers) {
          account.faults.add({
            operation: 'webhooks.send',
            effect: 'lose-answer',
            times: losesAnswers,
          });
        }
        tell(hour, name, standAt(hour));
      },
      async end(hour: number) {
        account.faults.clear();
        await shop.answer('receiver');
        tell(hour, 'the server answers again', standAt(hour));
      },
    };
    let recovery: Recovery | undefined;
    let missingBefore = 0;
    const bringBack = async (hour: number) => {
      missingBefore = paid.length - shop.delivered.size;
      recovery = await recoverBy({
        receiver: shop.receiver,
        client,
        url: shop.url,
        apply: true,
        recreateEndpoint: true,
        perSecond: Number.POSITIVE_INFINITY,
        now: new Date(account.clock.now()),
      });
      tell(hour, `recovery brings back ${missingBefore}`, standAt(hour));
    };
    const times = Array.from({ length: orders }, () => random() * HOURS).sort((a, b) => a - b);
    const plan = [
      ...times.map((hour) => ({ hour, run: () => happens.pay(hour) })),
      ...ACTS.flatMap((act) => [
        { hour: act.from, run: () => happens.begin(act.from, act) },
        { hour: act.to, run: () => happens.end(act.to) },
      ]),
      { hour: RECOVERY_AT, run: () => bringBack(RECOVERY_AT) },
    ].sort((a, b) => a.hour - b.hour);

    await shop.answer('receiver');
    tell(0, 'the shop opens', standAt(0));
    for (const { hour, run } of plan) {
      await goTo(hour);
      await run();
    }
    await goTo(HOURS);
    tell(HOURS, 'three days are over', standAt(HOURS));
    const counts = paid.map((id) => {
      const times = shop.delivered.get(id) ?? 0;
      return times === 0 ? 0 : Math.max(times, shop.mailed.get(id) ?? 0);
    });
    const reconciliation = await reconcile({
      receiver: shop.receiver,
      client,
      url: shop.url,
      perSecond: Number.POSITIVE_INFINITY,
      // An hour later, so that no order is too young to be judged.
      now: new Date(account.clock.now() + HOUR),
      delivered: (ids) => ids.flatMap((id) => Array(shop.delivered.get(id) ?? 0).fill(id)),
    });
    if (!recovery) throw new Error('Nothing was recovered.');
    return {
      points,
      disabledAt,
      recoveredAt: RECOVERY_AT,
      missingBefore,
      recovery,
      reconciliation,
      paid: paid.length,
      once: counts.filter((count) => count === 1).length,
      missing: counts.filter((count) => count === 0).length,
      twice: counts.filter((count) => count > 1).length,
    };
  } finally {
    await shop.close();
    await sandbox.close();
  }
}
