import { WebhookError } from '../errors/errors.js';
import type { Reporter } from '../report/hooks.js';
import type { BodyBudget } from '../request/body.js';
import type { Dispatched } from '../request/outcome.js';
import { HAS_PROCESS } from '../runtime/has-process.js';
import { atEndOfTurn } from '../runtime/turn.js';

/** The most bytes of bodies in memory: of verified deliveries together, and again of requests being read. */
const MAX_BYTES = 64 * 1024 * 1024;
/** How much memory each piece of a body takes beside its bytes, approximately: Node makes an object of it. */
const PIECE_BYTES = 400;

/**
 * The provider does not say how long it waits for an answer: 10 s are assumed. So, before any measurement, a receiver
 * accepts what it does in 8 s at the rate of a slow store.
 */
const FIRST_PER_SECOND = 500;
const ACCEPTED_S = 8;
/** The limit of deliveries in progress: the smallest, and the largest. */
const MIN_LIMIT = 32;
const MAX_LIMIT = 10_000;

/** How often a receiver measures its load while it has deliveries in progress. */
const LOOK_MS = 250;
/** If most claims wait longer, or the event loop is later, the receiver is overloaded. */
const SLOW_CLAIM_MS = 1_000;
const SLOW_LOOP_MS = 250;

/** After so long in one turn of the event loop, further requests wait for the next turn. */
const LONG_TURN_MS = 50;

/** An overload is over when nothing has been rejected for this long. */
const OVER_MS = 5_000;
const MAX_RETRY_AFTER_MS = 60_000;
/** A sender that has waited for less time than this is assumed to be connected. */
const SURELY_THERE_MS = 250;

/** A claim, or a hand-off to a queue, whose answer has not arrived yet. */
export interface Waiting {
  since: number;
}

/**
 * Counts the deliveries in progress, and decides whether there is room for more. The limit adapts to the store and the
 * processor: while most claims wait or the event loop stays late, it falls towards the number finished in the last
 * second; otherwise it grows.
 */
export class Load {
  readonly #reporter: Pick<Reporter, 'error' | 'shed'>;
  readonly bodies = new Bodies();
  /** The largest number of deliveries in progress. */
  #limit = FIRST_PER_SECOND * ACCEPTED_S;
  #bytes = 0;
  /** The number of deliveries in progress. */
  inHand = 0;
  /** Oldest first. */
  readonly #waiting = new Set<Waiting>();
  /** How many claims were answered in time since the last measurement, and how many were not. */
  #prompt = 0;
  #late = 0;
  /** The most deliveries in progress since the last measurement. */
  #most = 0;
  #finished = 0;
  #perSecond = 0;
  #lookedAt = 0;
  #wasLoopLate = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** How many rejected requests would still be waiting if each had been accepted. */
  #refusedAhead = 0;
  #refusedAt = 0;
  #overload: { readonly since: number; shed: number } | undefined;

  constructor(reporter: Pick<Reporter, 'error' | 'shed'>) {
    this.#reporter = reporter;
  }

  /** Waits if this turn of the event loop has taken long, so that other work can run. Otherwise does not wait. */
  waitForTurn(): Promise<void> | undefined {
    return HAS_PROCESS && turn.isLong() ? turn.wait() : undefined;
  }

  /** Returns the result for a request if there is no room for it; `undefined` if there is. */
  refuse(): Dispatched | undefined {
    if (!HAS_PROCESS || (this.inHand < this.#limit && this.#bytes < MAX_BYTES)) return undefined;
    const now = performance.now();
    this.#refusedAhead = this.#ahead(now) + 1;
    this.#refusedAt = now;
    if (!this.#overload) {
      this.#overload = { since: now, shed: 0 };
      this.#reporter.error(overloaded(this.inHand, this.#perSecond), {});
    }
    this.#overload.shed += 1;
    this.#reporter.shed();
    // Each sender gets the time at which the ones before it will be done, so that they do not all return at once.
    const aheadMs = (1_000 * this.#refusedAhead) / this.#rate();
    return unavailable(1_000 + Math.min(aheadMs, MAX_RETRY_AFTER_MS));
  }

  /**
   * Does the work for a verified delivery, if there is room, and unless its sender has disconnected.
   *
   * @param came.startedAt - When its request arrived.
   * @param came.isGone - Whether its sender has disconnected.
   */
  async hold<Kind>(
    body: { readonly length: number },
    came: { readonly startedAt: number; readonly isGone?: (() => boolean) | undefined },
    work: () => Promise<Kind>,
  ): Promise<Kind | Dispatched> {
    if (!HAS_PROCESS) return work();
    const refused = this.refuse();
    if (refused) return refused;
    if (came.isGone && performance.now() - came.startedAt > SURELY_THERE_MS && came.isGone()) {
      this.#reporter.shed();
      return unavailable();
    }
    this.inHand += 1;
    this.#bytes += body.length;
    this.#most = Math.max(this.#most, this.inHand);
    this.#watch();
    try {
      return await work();
    } finally {
      this.inHand -= 1;
      this.#bytes -= body.length;
      this.#finished += 1;
    }
  }

  /** Starts measuring a claim or a hand-off, until {@link answered} is called. */
  asked(): Waiting {
    const waiting = { since: performance.now() };
    if (HAS_PROCESS) this.#waiting.add(waiting);
    return waiting;
  }

  answered(waiting: Waiting): void {
    if (!this.#waiting.delete(waiting)) return;
    if (isLate(waiting, performance.now())) this.#late += 1;
    else this.#prompt += 1;
  }

  #ahead(now: number): number {
    return Math.max(0, this.#refusedAhead - (this.#rate() * (now - this.#refusedAt)) / 1_000);
  }

  /** How many deliveries are done in a second, as far as that was measured. */
  #rate(): number {
    return Math.max(this.#perSecond, this.#limit / ACCEPTED_S);
  }

  #watch(): void {
    if (this.#timer !== undefined) return;
    this.#lookedAt = performance.now();
    this.#schedule();
  }

  #schedule(): void {
    this.#timer = setTimeout(() => this.#look(), LOOK_MS);
    // The timer must not keep a process alive. On runtimes other than Node, a timer is a number.
    this.#timer.unref?.();
  }

  #look(): void {
    const now = performance.now();
    const elapsedMs = now - this.#lookedAt;
    this.#lookedAt = now;
    this.#perSecond = (this.#perSecond + (1_000 * this.#finished) / elapsedMs) / 2;
    const isLoopLate = elapsedMs - LOOK_MS > SLOW_LOOP_MS;
    const isSlow = isLoopLate ? this.#wasLoopLate : this.#isStoreSlow(now);
    // A process that stood still, for example for a collection of garbage, could not take the answers to its claims.
    if (isLoopLate) for (const waiting of this.#waiting) waiting.since = now;
    this.#wasLoopLate = isLoopLate;
    if (isSlow) {
      const less = 0.7 * Math.min(this.#limit, this.#most);
      this.#limit = Math.max(MIN_LIMIT, less, Math.min(this.#limit, this.#perSecond));
    } else if (this.#finished > 0 && this.#most >= 0.8 * this.#limit) {
      this.#limit = Math.min(MAX_LIMIT, 1.5 * this.#limit);
    }
    this.#finished = 0;
    this.#prompt = 0;
    this.#late = 0;
    this.#most = this.inHand;
    if (this.#overload && now - this.#refusedAt > OVER_MS) this.#endOverload(now);
    if (this.inHand > 0 || this.#overload) this.#schedule();
    else this.#timer = undefined;
  }

  /** A single claim may wait for a silent connection or a locked row, while the store answers all others at once. */
  #isStoreSlow(now: number): boolean {
    let late = this.#late;
    for (const waiting of this.#waiting) {
      if (!isLate(waiting, now)) break;
      late += 1;
    }
    return late > 0 && late >= this.#prompt;
  }

  #endOverload(now: number): void {
    const { since, shed } = this.#overload ?? { since: now, shed: 0 };
    this.#overload = undefined;
    const seconds = Math.ceil((now - OVER_MS - since) / 1_000);
    const message = `The overload is over. It lasted ${seconds} s, in which ${shed} requests were answered 503.`;
    this.#reporter.error(new WebhookError('overloaded', message), {});
  }
}

function isLate({ since }: Waiting, now: number): boolean {
  return now - since > SLOW_CLAIM_MS;
}

function unavailable(retryAfterMs?: number): Dispatched {
  return { outcome: 'unavailable', ran: [], retryAfterMs };
}

function overloaded(inHand: number, perSecond: number): WebhookError {
  return new WebhookError(
    'overloaded',
    `More webhooks arrive than this process can handle: ${inHand} are in progress, and ${Math.round(perSecond)} were ` +
      'done within the last second. Further ones are answered 503, and the provider retries them. ' +
      'If this happens often, make the handlers faster, give the store more connections, or start more processes.',
  );
}

/** The current turn of the event loop, shared by all receivers. */
class Turn {
  #startedAt: number | undefined;

  isLong(): boolean {
    if (this.#startedAt !== undefined) return performance.now() - this.#startedAt > LONG_TURN_MS;
    this.#startedAt = performance.now();
    atEndOfTurn(() => {
      this.#startedAt = undefined;
    });
    return false;
  }

  async wait(): Promise<void> {
    while (this.isLong()) {
      const before = this.#startedAt;
      await new Promise<void>((resolve) => atEndOfTurn(resolve));
      // Without `setImmediate`, a timer ends the turn, and `crashPoints` stops the timers of a process that dies.
      if (this.#startedAt === before) this.#startedAt = undefined;
    }
  }
}

const turn = new Turn();

/** The bodies that are being read, none of which is verified yet. */
class Bodies implements BodyBudget {
  /** The bodies that are being read, in the order in which they began. */
  readonly #reading = new Map<object, { bytes: number; readonly giveUp: () => void }>();
  #bytes = 0;

  begin(giveUp: () => void): object {
    const body = {};
    if (HAS_PROCESS) this.#reading.set(body, { bytes: 0, giveUp });
    return body;
  }

  /**
   * Adds a piece. If there are too many bytes, gives up the oldest bodies: an honest sender sends its body within a
   * moment.
   */
  add(body: object, bytes: number): void {
    const own = this.#reading.get(body);
    if (!own) return;
    own.bytes += bytes + PIECE_BYTES;
    this.#bytes += bytes + PIECE_BYTES;
    for (const [slowest, { giveUp }] of this.#reading) {
      if (this.#bytes <= MAX_BYTES) return;
      this.end(slowest);
      giveUp();
    }
  }

  end(body: object): void {
    this.#bytes -= this.#reading.get(body)?.bytes ?? 0;
    this.#reading.delete(body);
  }
}
