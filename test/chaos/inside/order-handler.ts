import { isPaid, type Receiver } from 'storefront-webhooks';
import { monotonicMs } from '../monotonic.js';
import { type Effects, PRODUCTS } from './effects.js';
import { pass } from './faults-here.js';
import { numberOf, pause } from './handlers.js';

const EVENTS = ['order:paid', 'order:updated'] as const;

/** Registers one handler, which delivers an order once, for either event that reports it as paid. */
export function registerOrders(receiver: Receiver, effects: Effects): void {
  const how = process.env.CHAOS_BREAK;
  const register = (events: readonly (typeof EVENTS)[number][], name: string) => {
    receiver.on(
      events,
      async ({ payload, key, handler, attempt }) => {
        // Check the status in the handler, as a shop without a `when` would.
        if (how === 'when' && !isPaid(payload)) return;
        const { id } = payload;
        const started = monotonicMs();
        pass('before-plain');
        await effects.ran({ delivery: id, key, handler: 'plain', attempt, started });
        pass('after-plain');
        await pause();
        pass('before-ledger');
        const product = numberOf(id) % PRODUCTS;
        await effects.sell({ id, key, handler }, product, () => pass('in-transaction'));
        pass('after-commit');
        await pause();
      },
      { name, when: how === 'when' ? () => true : isPaid, oncePer: (order) => order.id },
    );
  };
  if (how === 'event') for (const event of EVENTS) register([event], `deliver ${event}`);
  else register(EVENTS, 'deliver');
}
