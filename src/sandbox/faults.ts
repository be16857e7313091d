import { UsageError } from '../errors/errors.js';
import { type AnswerFault, type Fault, findWrong, type SendFault } from './fault.js';
import { seeded } from './random.js';

/** The planned faults of an account, or of all accounts. */
export interface FaultPlan {
  /**
   * Plans a fault.
   *
   * @throws {UsageError} `option_invalid`, for example if the operation does not exist.
   *
   * @example
   * account.faults.add({ operation: 'orders.get', status: 503, times: 2 });
   */
  add(fault: Fault): void;
  /** Returns the faults that have not yet struck as often as planned. */
  list(): readonly Fault[];
  /** Removes all faults. */
  clear(): void;
}

/** A fault, and whether it strikes each of the coming calls, the next call first. */
interface Planned {
  readonly fault: Fault;
  readonly strikes: boolean[];
}

/** Counts calls, and decides which of them a fault strikes. */
export class Faults implements FaultPlan {
  #planned: Planned[] = [];

  add(fault: Fault): void {
    const [wrong] = findWrong({ ...fault });
    if (wrong !== undefined) throw new UsageError('option_invalid', `faults.add: ${wrong}.`);
    this.#planned.push({ fault: { ...fault }, strikes: plan(fault) });
  }

  list(): readonly Fault[] {
    return this.#planned.map(({ fault }) => fault);
  }

  clear(): void {
    this.#planned = [];
  }

  /** Counts a call, and returns the fault that strikes it, if any. */
  strike(operation: 'webhooks.send'): SendFault | undefined;
  strike(operation: string): AnswerFault | undefined;
  strike(operation: string): Fault | undefined {
    const counting = this.#planned.filter(({ fault }) => fault.operation === operation);
    const [struck, ...waiting] = counting.filter(({ strikes }) => strikes.shift());
    // A call has one fault. The others strike the first later call for which they have no strike yet.
    for (const { strikes } of waiting) {
      const free = strikes.indexOf(false);
      strikes[free === -1 ? strikes.length : free] = true;
    }
    this.#planned = this.#planned.filter(({ strikes }) => strikes.length > 0);
    return struck?.fault;
  }
}

/** Returns for each coming call, up to the last one that the fault strikes, whether it does. */
function plan({ times = 1, after = 0, among = times, seed = 1 }: Fault): boolean[] {
  const random = seeded(seed);
  const ranked = Array.from({ length: Math.max(times, among) }, (_, at) => ({
    at,
    rank: random(),
  }));
  const picked = new Set(
    ranked
      .sort((one, other) => one.rank - other.rank)
      .slice(0, times)
      .map(({ at }) => at),
  );
  const strikes = Array.from({ length: Math.max(...picked) + 1 }, (_, at) => picked.has(at));
  return [...Array<boolean>(after).fill(false), ...strikes];
}
