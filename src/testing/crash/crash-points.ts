import { UsageError } from '../../errors.js';
import { findUnknownOption } from '../../report/text.js';
import { memoryStore } from '../../stores/memory.js';
import type { IdempotencyStore } from '../../stores/store.js';
import type { Fixture } from '../fixture.js';
import { type ReplayResult, replay } from '../replay.js';
import { isReceiver, type ReceiverLike } from '../target.js';
import { type Effects, type Gate, Life } from './life.js';

/** What {@link crashPoints} watches. */
export interface CrashOptions<Observed extends Effects> {
  /**
   * What the handlers do in the world, by names of your choice: functions, or doubles of them. They are called for
   * each point anew and are not reset: a double with a stock needs enough for two deliveries at each point, and
   * what it answers must not depend on what it was asked before.
   */
  observe: Observed;
  /** Milliseconds that a delivery may take. Default 10,000. */
  timeout?: number;
}

/** What a crash does to a customer. */
export interface CrashFinding {
  /** Its name in `observe`. */
  readonly effect: string;
  /**
   * `twice`: it happened again. `lost`: nothing waits for it, so a crash after the delivery was recorded as done
   * loses it. `unfinished`: after a crash before it, the delivery can never be handled.
   */
  readonly problem: 'twice' | 'lost' | 'unfinished';
  /** How often it happened in all; of `lost`, how often it did although nothing waited for it. */
  readonly times: number;
  /** Where it is called: file, line and column, from the working directory on. */
  readonly after: string;
  /** Where the process died: what is there did not happen. `undefined` where that is after the handler. */
  readonly before: string | undefined;
  /** A sentence that says so, and what to change. */
  readonly message: string;
}

/** What {@link crashPoints} has tried, and found. */
export interface CrashReport {
  /** The places before which the handlers were abandoned, in their order. */
  readonly points: readonly string[];
  /** Empty where every effect happened once, whichever the point. */
  readonly findings: readonly CrashFinding[];
}

/**
 * Runs your handlers, abandons them at each point at which a process can die, delivers again, and tells which
 * effects happen twice: those between which a `once()` is missing.
 *
 * The points are before each observed effect, and where a handler waits for something else before the store has
 * heard of the effect. That a process dies in the very moment between an effect and its record, no `once()` can
 * help: see `postgresLedger` for that.
 *
 * For what else a handler waits is seen on Node. Bun and Deno do not tell: there, the points are before each
 * observed effect, so observe all that counts.
 *
 * @param makeReceiver - Makes a receiver with this store, whose handlers call these effects. It is called twice for
 *   each point.
 * @param fixture - A loaded fixture or the name of a shipped one, which the receiver handles.
 * @throws {UsageError} `option_invalid`, also where the receiver does not handle the delivery at all;
 *   `receiver_invalid`, `fixture_invalid`.
 * @throws {WebhookError} `timed_out`
 *
 * @example
 * import { expect } from 'vitest';
 *
 * const { findings } = await crashPoints(
 *   (store, { mail, book }) =>
 *     createReceiver({ secret, store }).on('order:paid', async ({ payload: order, once }) => {
 *       await once('mail', () => mail(order.email));
 *       await once('book', () => book(order.id));
 *     }),
 *   'order:paid',
 *   { observe: { mail: async (_to: string) => {}, book: async (_id: string) => {} } },
 * );
 * expect(findings).toEqual([]);
 */
export async function crashPoints<const Observed extends Effects>(
  makeReceiver: (
    store: IdempotencyStore,
    effects: Observed,
  ) => ReceiverLike | Promise<ReceiverLike>,
  fixture: Fixture | string,
  options: CrashOptions<Observed>,
): Promise<CrashReport> {
  const { observe, timeout = 10_000 } = options;
  const unknown = findUnknownOption('crashPoints()', options, ['observe', 'timeout']);
  if (unknown) throw unknown;
  checkEffects(observe);

  const deliver = (life: Life): Promise<ReplayResult> =>
    life.run(async () => {
      const receiver = await makeReceiver(life.store, life.observe(observe));
      if (!isReceiver(receiver)) throw notMade();
      return replay(receiver, fixture, { timeout });
    });

  const whole = new Life(memoryStore());
  const { status, outcome } = await deliver(whole);
  if (outcome !== 'handled') throw notHandled(status, outcome);
  const findings = whole.unawaited.map(({ effect, place }) => toLost(effect, place));
  for (const index of whole.gates.keys()) {
    const kept = memoryStore();
    const first = new Life(kept, { diesAt: index + 1, synchronous: whole.synchronous });
    const abandoned = deliver(first);
    // Nobody waits for it once its process is dead.
    abandoned.catch(() => {});
    await Promise.race([abandoned, first.died]);
    const gate = first.gates[index];
    if (!first.isDead || !gate) continue;
    const second = new Life(kept);
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
  const count = (life: Life, effect: string) =>
    life.calls.filter((call) => call.effect === effect).length;
  const twice = first.calls
    .filter(({ place }) => second.calls.some((call) => call.place === place))
    .map(({ effect, place }) => ({
      effect,
      place,
      times: count(first, effect) + count(second, effect),
    }))
    .filter(({ effect, times }) => times > count(whole, effect))
    .map(({ effect, place, times }) => toTwice(effect, times, place, gate));
  const isDone = again.status >= 200 && again.status < 300;
  return isDone ? twice : [...twice, toUnfinished(gate, again)];
}

/** Each by its earliest point: where it is repaired there, it is repaired at the later ones. */
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
    `${effect} happened ${times === 2 ? 'twice' : `${times} times`}: the handler was abandoned after ${effect} at ${after} and before ${next}, and the delivery came again. ` +
    `Give ${effect} a once() of its own, which ends before ${before}.`;
  return { effect, problem: 'twice', times, after, before, message };
}

function toLost(effect: string, after: string): CrashFinding {
  const message = `${effect} at ${after} can be lost: the delivery was recorded as done while it was still on its way. Await it.`;
  return { effect, problem: 'lost', times: 1, after, before: undefined, message };
}

function toUnfinished({ effect = 'the end', place }: Gate, again: ReplayResult): CrashFinding {
  const message = `After a crash before ${effect} at ${place}, the delivery cannot be handled: it is answered ${again.status}. Make what comes before ${place} repeatable, or put it into a once().`;
  return { effect, problem: 'unfinished', times: 0, after: place, before: place, message };
}

function checkEffects(observe: unknown): void {
  const effects = typeof observe === 'object' && observe !== null ? Object.values(observe) : [];
  if (effects.length > 0 && effects.every((effect) => typeof effect === 'function')) return;
  throw new UsageError(
    'option_invalid',
    'crashPoints() needs what the handlers do in the world, as { observe: { mail: (to) => … } }: functions by their names.',
  );
}

function notMade(): UsageError {
  return new UsageError(
    'receiver_invalid',
    'crashPoints() needs a function that returns a receiver, as (store, effects) => createReceiver({ secret, store }).on(…).',
  );
}

function notHandled(status: number, outcome: string | undefined): UsageError {
  return new UsageError(
    'option_invalid',
    `crashPoints() needs a delivery that the receiver handles, and this one is answered ${status} ${outcome ?? ''}: ` +
      'register a handler for its event, give the receiver no queue, and let the handler succeed.',
  );
}
