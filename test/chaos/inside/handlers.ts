import type { Handler, HandlerOptions, Receiver } from 'storefront-webhooks';
import type { FromReceiver } from '../messages.js';
import { monotonicMs } from '../monotonic.js';
import { Random } from '../random.js';
import { type Effects, PRODUCTS } from './effects.js';
import { pass } from './faults-here.js';

const slowMs = Number(process.env.CHAOS_SLOW_MS ?? 0);
/** The version of the program: `a`, or its successor `b`. If it is empty, no handler fails on purpose. */
const version = process.env.CHAOS_VERSION ?? '';
const pauses = process.env.CHAOS_PAUSES ? new Random(Number(process.env.CHAOS_PAUSES)) : undefined;
const MAX_PAUSE_MS = 50;

type OrderHandler = Handler<{
  readonly id: string;
  readonly key: string;
  readonly handler: string;
  readonly attempt: number;
}>;

/** The names of the handlers in the next version, by their names in this one. */
const RENAMED: Readonly<Record<string, string>> = { finished: 'completed', ledger: 'sold' };

/** Returns the name under which the runs of a handler are counted in both versions. */
export function oldNameOf(name: string): string {
  return Object.entries(RENAMED).find(([, renamed]) => renamed === name)?.[0] ?? name;
}

/** Registers the handlers of this version of the program. */
export function register(
  receiver: Receiver,
  effects: Effects,
  tell: (message: FromReceiver) => void,
): void {
  const on = (name: string, handler: OrderHandler) => {
    receiver.on('order:paid', handler, optionsFor(name));
  };
  on('plain', async ({ id, key, attempt }) => {
    const started = monotonicMs();
    if (slowMs > 0) {
      tell({ kind: 'running', id, at: started });
      await new Promise((resolve) => setTimeout(resolve, slowMs));
    }
    pass('before-plain');
    await effects.ran({ delivery: id, key, handler: 'plain', attempt, started });
    pass('after-plain');
    await pause();
  });
  on('ledger', async ({ id, key, handler, attempt }) => {
    pass('before-ledger');
    const product = numberOf(id) % PRODUCTS;
    await effects.sell({ id, key, handler }, product, () => pass('in-transaction'));
    pass('after-commit');
    if (version && attempt === 1 && numberOf(id) % 3 === 0) {
      throw new Error('The sale is made, and the handler fails.');
    }
    await pause();
  });
  on('finished', async ({ id, key, attempt }) => {
    const started = monotonicMs();
    pass('before-finished');
    await effects.ran({ delivery: id, key, handler: 'finished', attempt, started });
    pass('after-finished');
  });
  if (!version) return;
  if (version === 'b') {
    on('added', async ({ id, key, attempt }) => {
      const started = monotonicMs();
      await effects.ran({ delivery: id, key, handler: 'added', attempt, started });
    });
  }
  on('late', async ({ id, attempt }) => {
    // Fail once, twice or three times, depending on the delivery.
    if (attempt <= 1 + (numberOf(id) % 3)) throw new Error('Half of it is done.');
  });
}

/** Pauses for a random time, so that a process can die between an effect and its record. */
export async function pause(): Promise<void> {
  if (pauses) await new Promise((resolve) => setTimeout(resolve, pauses.between(0, MAX_PAUSE_MS)));
}

export function numberOf(id: string): number {
  return Number(/\d+$/.exec(id)?.[0] ?? 0);
}

function optionsFor(name: string): HandlerOptions {
  const renamed = version === 'b' ? RENAMED[name] : undefined;
  if (renamed === undefined) return { name };
  if (process.env.CHAOS_BREAK === 'rename') return { name: renamed };
  return { name: renamed, formerly: name };
}
