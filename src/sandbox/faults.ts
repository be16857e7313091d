import { UsageError } from '../errors.js';
import { type AnswerFault, type Fault, findWrong, type SendFault } from './fault.js';
import { seeded } from './random.js';

/** The faults of an account, or of all of them. */
export interface FaultPlan {
  /**
   * Plans a fault.
   *
   * @throws {UsageError} `option_invalid`, such as for an operation that there is not.
   *
   * @example
   * account.faults.add({ operation: 'orders.get', status: 503, times: 2 });
   */
  add(fault: Fault): void;
  /** Those that have not struck as often as they are to. */
  list(): readonly Fault[];
  /** Takes all of them back. */
  clear(): void;
}

/** A fault, and what becomes of the calls to come, the next one first. */
interface Planned {
  readonly fault: Fault;
  readonly strikes: boolean[];
}

/** Counts calls, and says which of them a fault strikes. */
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

  /** Counts a call: the fault that strikes it, if one does. */
  strike(operation: 'webhooks.send'): SendFault | undefined;
  strike(operation: string): AnswerFault | undefined;
  strike(operation: string): Fault | undefined {
    const counting = this.#planned.filter(({ fault }) => fault.operation === operation);
    const [struck] = counting.filter(({ strikes }) => strikes.shift());
    this.#planned = this.#planned.filter(({ strikes }) => strikes.length > 0);
    return struck?.fault;
  }
}

/** Which calls a fault strikes, from the next one to the last one that it does. */
function plan({ times = 1, after = 0, among = times, seed = 1 }: Fault): boolean[] {
  const random = seeded(seed);
  const ranked = Array.from({ length: Math.max(times, among) }, (_, at) => ({
    at,
    rank: random(),
  }));
  const picked = ranked
    .sort((one, other) => one.rank - other.rank)
    .slice(0, times)
    .map(({ at }) => at);
  const strikes = Array.from({ length: Math.max(...picked) + 1 }, (_, at) => picked.includes(at));
  return [...Array<boolean>(after).fill(false), ...strikes];
}
