import { UsageError } from '../../errors/errors.js';
import { refuseUnknownOption } from '../../errors/text.js';
import { memoryStore } from '../../stores/memory.js';
import type { IdempotencyStore } from '../../stores/store.js';
import type { Fixture } from '../fixture.js';
import { readFixture } from '../load.js';
import { type ReplayResult, replay } from '../replay.js';
import { isReceiver, type ReceiverLike } from '../target.js';
import { type Effects, type Gate, Life } from './life.js';

/** Options of {@link crashPoints}. */
export interface CrashOptions<Observed extends Effects, Tx = unknown> {
  /**
   * The effects of the handlers, by names of your choice: functions, or doubles of them. They are called
   * again for each point and are not reset: a double with a stock needs enough for two deliveries at each
   * point, and its answers must not depend on earlier calls.
   */
  observe: Observed;
  /**
   * The `tx` of handlers with the option `transaction`: a double of your driver's client, or one of a database
   * for tests. Each observed effect in such a handler is a finding, because it is outside of the transaction.
   * Default: none, and registering such a handler throws.
   */
  tx?: Tx;
  /** The milliseconds that a delivery may take. Default 10,000. */
  timeout?: number;
}

/** A harm that a crash can do to a customer. */
export interface CrashFinding {
  /** The name of the effect in `observe`. */
  readonly effect: string;
  /**
   * `twice`: the effect happened again. `lost`: after a crash, the delivery was recorded as done without the
   * effect; or nothing waits for the effect, so a crash can lose it. `unfinished`: after a crash before the
   * effect, the delivery can never be handled.
   */
  readonly problem: 'twice' | 'lost' | 'unfinished';
  /** How often the effect happened in all; if nothing waits for it, 1. */
  readonly times: number;
  /** The call of the effect: file, line and column, relative to the working directory. */
  readonly after: string;
  /** The place where the process died, before its code ran; `undefined` if the process died after the handler. */
  readonly before: string | undefined;
  /** A sentence that describes the finding, and what to change. */
  readonly message: string;
}

/** The result of {@link crashPoints}. */
export interface CrashReport {
  /** The places before which the handlers were abandoned, in order. */
  readonly points: readonly string[];
  /**
   * The findings; empty if, for every point, each effect happened as often as it does without a crash: no
   * effect happened again, and none was lost.
   */
  readonly findings: readonly CrashFinding[];
}

/**
 * Runs your handlers, abandons them at each point at which a process can die, delivers again, and reports the
 * effects that happen twice, between which a `once()` is missing, and those that are lost.
 *
 * The points are before each observed effect, and wherever a handler waits for something else before the
 * store has recorded the effect. If a process dies in the very moment between an effect and its record, no
 * `once()` helps: see `postgresLedger` for that.
 *
 * Only Node shows what else a handler waits for. On Bun and Deno, the points are only before each observed
 * effect, so observe every effect that matters.
 *
 * @param makeReceiver - Makes a receiver with this store, whose handlers call these effects. Called once
 *   without a crash, and twice for each point: before a crash and after it. Give each of these runs a fresh database,
 *   if the handlers use one; the two calls for a point share theirs.
 * @param fixture - A loaded fixture or the name of a shipped one, which the receiver handles.
 * @throws {UsageError} `option_invalid`, also if the receiver does not handle the delivery at all, or only the first
 *   time; `receiver_invalid`, `fixture_invalid`.
 * @throws {WebhookError} `timed_out`
 *
 * @example
 * import { expect } from 'vitest';
 *
 * const { findings } = await crashPoints(
 *   (store, { mail, book }) =>
 *     createReceiver({ secret, store }).onPaid(async ({ payload: order, once }) => {
 *       await once('mail', () => mail(order.email));
 *       await once('book', () => book(order.id));
 *     }),
 *   'order:paid',
 *   { observe: { mail: async (_to: string) => {}, book: async (_id: string) => {} } },
 * );
 * expect(findings).toEqual([]);
 */
export async function crashPoints<const Observed extends Effects, Tx = unknown>(
  makeReceiver: (
    store: IdempotencyStore<Tx>,
    effects: Observed,
  ) => ReceiverLike | Promise<ReceiverLike>,
  fixture: Fixture | string,
  options: CrashOptions<Observed, Tx>,
): Promise<CrashReport> {
  const { observe, tx, timeout = 10_000 } = options;
  refuseUnknownOption('crashPoints()', options, ['observe', 'tx', 'timeout']);
  checkEffects(observe);
  const needed = "crashPoints() needs one fixture, or the name of one such as 'order:paid',";
  const loaded = readFixture(fixture, needed);

  const deliver = (life: Life): Promise<ReplayResult> =>
    life.run(async () => {
      // The handlers of this receiver get the `tx` of this life, and no other.
      const store = life.store as IdempotencyStore<Tx>;
      const receiver = await makeReceiver(store, life.observe(observe));
      if (!isReceiver(receiver)) throw notMade();
      return replay(receiver, loaded, { timeout });
    });

  const whole = new Life(memoryStore(), { tx });
  const { status, outcome } = await deliver(whole);
  if (outcome !== 'handled') throw notHandled(status, outcome);
  const findings = whole.unawaited.map(({ effect, place }) => toLost(effect, place));
  for (const index of whole.gates.keys()) {
    const kept = memoryStore();
    const first = new Life(kept, { diesAt: index + 1, synchronous: whole.synchronous, tx });
    const abandoned = deliver(first);
    // Once its process is dead, its result does not matter.
    abandoned.catch(() => {});
    await Promise.race([abandoned, first.died]);
    const gate = first.gates[index];
    if (!first.isDead || !gate) {
      // Handlers that run side by side may pass fewer points, but not without any effect.
      if (first.calls.length === 0) throw notRepeated();
      continue;
    }
    const second = new Life(kept, { tx });
    const again = await deliver(second);
    findings.push(...judge({ whole, first, second, gate, again }));
  }
  return { points: whole.gates.map(({ place }) => place), findings: firstOfEach(findings) };
}

interface Lived {
  readonly whole: Life;
  readonly first: Life;
  readonly second: Life;
  readonly gate: Gate;
  readonly again: ReplayResult;
}

function judge({ whole, first, second, gate, again }: Lived): CrashFinding[] {
  // Effects that are called by one function of the program have the same place.
  const count = (life: Life, effect: string, place: string) =>
    life.calls.filter((call) => call.effect === effect && call.place === place).length;
  const placesOf = (calls: Life['calls'], effect: string) =>
    calls.filter((call) => call.effect === effect).map(({ place }) => place);
  const twice = first.calls
    .filter(({ effect, place }) => {
      const again = count(second, effect, place);
      return again > 0 && count(first, effect, place) + again > count(whole, effect, place);
    })
    .map(({ effect, place, isInTransaction }) => {
      const times = placesOf([...first.calls, ...second.calls], effect).length;
      return isInTransaction
        ? toOutside(effect, times, place, gate)
        : toTwice(effect, times, place, gate);
    });
  const isDone = again.status >= 200 && again.status < 300;
  if (!isDone) return [...twice, toUnfinished(gate, again)];
  const lost = [...new Set(whole.calls.map(({ effect }) => effect))].flatMap((effect) => {
    const places = placesOf(whole.calls, effect);
    const repeated = placesOf([...first.calls, ...second.calls], effect);
    // A call too many at one place does not replace one at another. A call at a place of its own may: a retry may do
    // elsewhere what the first attempt did not.
    const times = [...new Set(repeated)].reduce((sum, place) => {
      const often = count(first, effect, place) + count(second, effect, place);
      return sum + (places.includes(place) ? Math.min(often, count(whole, effect, place)) : often);
    }, 0);
    if (times >= places.length) return [];
    const place = places.find((one) => !repeated.includes(one)) ?? places[0] ?? effect;
    return [toForgotten(effect, times, place, gate)];
  });
  return [...twice, ...lost];
}

/** Keeps each finding at its earliest point. A repair there also repairs the later ones. */
function firstOfEach(findings: readonly CrashFinding[]): CrashFinding[] {
  const byEffect = new Map<string, CrashFinding>();
  for (const finding of findings) {
    const key = JSON.stringify([finding.problem, finding.effect, finding.after]);
    if (!byEffect.has(key)) byEffect.set(key, finding);
  }
  return [...byEffect.values()];
}

function toTwice(effect: string, times: number, after: string, gate: Gate): CrashFinding {
  const before = gate.place;
  const next = gate.effect === undefined ? before : `${gate.effect} at ${before}`;
  const message =
    `${effect} happened ${times === 2 ? 'twice' : `${times} times`}: the handler was abandoned after ${effect} at ${after} and before ${next}, and the delivery was sent again. ` +
    `Give ${effect} a once() of its own, which ends before ${before}.`;
  return { effect, problem: 'twice', times, after, before, message };
}

function toOutside(effect: string, times: number, after: string, gate: Gate): CrashFinding {
  const message =
    `${effect} at ${after} is outside of the transaction: the handler was abandoned before COMMIT, the transaction was rolled back, ${effect} was not, and the delivery was sent again. ` +
    `Call ${effect} in a handler of its own, without transaction: the handler runs once the transaction is committed.`;
  return { effect, problem: 'twice', times, after, before: gate.place, message };
}

function toLost(effect: string, after: string): CrashFinding {
  const message = `${effect} at ${after} can be lost: the delivery was recorded as done while ${effect} was still running. Await it.`;
  return { effect, problem: 'lost', times: 1, after, before: undefined, message };
}

function toForgotten(effect: string, times: number, after: string, gate: Gate): CrashFinding {
  const before = gate.place;
  const often = times === 0 ? 'in neither run' : times === 1 ? 'only once' : `only ${times} times`;
  const message =
    `${effect} at ${after} is lost: the handler was abandoned before ${before}, the delivery was sent again and recorded as done, and ${effect} happened ${often}. ` +
    `Skip ${effect} only if it has happened itself: give it a once() of its own. If the handlers use a database, give each run a fresh one.`;
  return { effect, problem: 'lost', times, after, before, message };
}

function toUnfinished({ effect = 'the end', place }: Gate, again: ReplayResult): CrashFinding {
  const message = `After a crash before ${effect} at ${place}, the delivery can never be handled: the receiver answers ${again.status}. Make everything before ${place} safe to run twice, or wrap it in a once().`;
  return { effect, problem: 'unfinished', times: 0, after: place, before: place, message };
}

function checkEffects(observe: unknown): void {
  const effects = typeof observe === 'object' && observe !== null ? Object.values(observe) : [];
  if (effects.length > 0 && effects.every((effect) => typeof effect === 'function')) return;
  throw new UsageError(
    'option_invalid',
    'crashPoints() needs the effects of the handlers, such as { observe: { mail: (to) => … } }: functions by name.',
  );
}

function notMade(): UsageError {
  return new UsageError(
    'receiver_invalid',
    'crashPoints() needs a function that returns a receiver, such as (store, effects) => createReceiver({ secret, store }).onPaid(…).',
  );
}

function notRepeated(): UsageError {
  return new UsageError(
    'option_invalid',
    'crashPoints() needs handlers that repeat what they did in the first run, but in a later run, no effect happened: give each run a fresh database, such as one that the function makes.',
  );
}

function notHandled(status: number, outcome: string | undefined): UsageError {
  return new UsageError(
    'option_invalid',
    `crashPoints() needs a delivery that the receiver handles, but the receiver answers ${status} ${outcome ?? ''}: ` +
      'register a handler for its event, give the receiver no queue, and let the handler succeed.',
  );
}
