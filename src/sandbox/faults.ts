import type { ERRORS } from '../api/endpoint.js';
import { endpoints } from '../api/endpoints.js';
import { UsageError } from '../errors.js';
import { didYouMean } from '../report/text.js';
import { seeded } from './random.js';

/** What the client calls an endpoint, such as `orders.get`. */
export type OperationId = {
  [Group in keyof typeof endpoints]: `${Group}.${Extract<keyof (typeof endpoints)[Group], string>}`;
}[keyof typeof endpoints];

/** Which calls a fault strikes. */
interface Calls {
  /** How many calls it strikes. Default 1. */
  times?: number;
  /** How many calls it lets pass before that. Default 0. */
  after?: number;
  /** Strikes `times` of so many calls, which `seed` picks. Default: one call after the other. */
  among?: number;
  /** Picks among the calls. Default 1. */
  seed?: number;
}

/** An endpoint answers with an error (specification: Errors). */
export interface AnswerFault extends Calls {
  operation: OperationId;
  status: keyof typeof ERRORS;
  /** Seconds that the answer tells the client to wait. Default: it tells nothing. */
  retryAfter?: number;
}

/** An attempt to send a webhook, or to call a dynamic product, does not go as it should. */
export interface SendFault extends Calls {
  operation: 'webhooks.send';
  /**
   * `lose`: it never arrives, so that it is sent again. `lose-answer`: it arrives, and its answer never comes, so
   * that it is sent again. `duplicate`: it is sent twice. `late`: it is sent after `ms`. `reorder`: it is sent after
   * the next one to the same URL, or after `ms` where there is none.
   */
  effect: 'lose' | 'lose-answer' | 'duplicate' | 'late' | 'reorder';
  /** How late, in milliseconds of the sandbox's time. Default one minute. */
  ms?: number;
}

/** What goes wrong, and when. */
export type Fault = AnswerFault | SendFault;

const OPERATIONS: readonly string[] = [
  ...Object.entries(endpoints).flatMap(([group, rows]) =>
    Object.keys(rows).map((name) => `${group}.${name}`),
  ),
  'webhooks.send',
];

interface Planned<F extends Fault> {
  readonly fault: F;
  /** What becomes of the calls to come, the next one first. */
  readonly calls: boolean[];
}

/** The faults that are still to strike. */
export class Faults {
  #planned: Planned<Fault>[] = [];

  /**
   * Plans a fault.
   *
   * @throws {UsageError} `option_invalid`, such as for an operation that there is not.
   */
  add(fault: Fault): void {
    if (!OPERATIONS.includes(fault.operation)) {
      throw new UsageError(
        'option_invalid',
        `faults.add: there is no operation ${fault.operation}. ${didYouMean(fault.operation, OPERATIONS)}There are ${OPERATIONS.join(', ')}.`,
      );
    }
    this.#planned.push({ fault, calls: plan(fault) });
  }

  /** Those that have not struck as often as they are to. */
  list(): readonly Fault[] {
    return this.#planned.map(({ fault }) => fault);
  }

  clear(): void {
    this.#planned = [];
  }

  /** Counts a call: the fault that strikes it, if one does. */
  strike(operation: OperationId): AnswerFault | undefined;
  strike(operation: 'webhooks.send'): SendFault | undefined;
  strike(operation: Fault['operation']): Fault | undefined {
    const of = this.#planned.filter(({ fault }) => fault.operation === operation);
    const struck = of.filter(({ calls }) => calls.shift()).map(({ fault }) => fault);
    this.#planned = this.#planned.filter(({ calls }) => calls.length > 0);
    return struck[0];
  }
}

function plan({ times = 1, after = 0, among = times, seed = 1 }: Calls): boolean[] {
  const random = seeded(seed);
  const picked = Array.from({ length: among }, (_, at) => ({ at, rank: random() }))
    .sort((one, other) => one.rank - other.rank)
    .slice(0, times)
    .map(({ at }) => at);
  const last = Math.max(-1, ...picked);
  const calls = Array.from({ length: last + 1 }, (_, at) => picked.includes(at));
  return [...Array<boolean>(after).fill(false), ...calls];
}
