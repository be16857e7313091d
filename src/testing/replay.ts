import { UsageError } from '../errors.js';
import type { Outcome } from '../outcome.js';
import { findUnknownOption } from '../report/text.js';
import { SIGN } from '../request/secret-source.js';
import { type Secret, sign } from '../request/signature.js';
import { MAX_TIMER_MS } from '../timing.js';
import type { Fixture } from './fixture.js';
import { loadFixture } from './load.js';
import { prepare, type ReplayFaults, type Signer } from './prepare.js';
import { within } from './response.js';
import { isReceiver, type OpenTarget, openTarget, type ReplayTarget } from './target.js';

/** How {@link replay} sends a delivery. */
export interface ReplayOptions extends ReplayFaults {
  /** What to sign with. Default: a receiver's own; every other target needs it. */
  secret?: Secret;
  /** What the provider's headers begin with. Default: what the receiver says; for other targets `X-Service-`. */
  headerPrefix?: string;
  /** Where an application has mounted its receiver. Default `/webhooks`. */
  path?: string;
  /**
   * The sender never sees the first answer, and sends the delivery again: the result is the second one.
   * Default false.
   */
  loseResponse?: boolean;
  /** Milliseconds that each sending may take, from its start to the whole answer. Default 10,000. */
  timeout?: number;
  /**
   * Sends to an `http:` address that is not of this machine. Whoever reads a delivery on its way can send
   * it again for as long as the secret is in use. Default false.
   */
  plainHttp?: boolean;
}

/** How {@link replay} sends several. */
export interface ReplayManyOptions extends ReplayOptions {
  /** How often each delivery is sent in all. Default 1. */
  duplicate?: number;
  /** Sends in another order; a number makes it the same order each time. Default false. */
  shuffle?: boolean | number;
  /** How many are sent at once. Default 1. */
  concurrency?: number;
}

const OPTIONS = [
  ...(['secret', 'headerPrefix', 'path', 'loseResponse', 'timeout', 'plainHttp'] as const),
  ...(['event', 'id', 'corrupt', 'chunks', 'duplicate', 'shuffle', 'concurrency'] as const),
] satisfies (keyof ReplayManyOptions)[];

// With any of these, there is a list of results.
const LIST_OPTIONS = ['duplicate', 'shuffle', 'concurrency'] as const;

/** What one replayed delivery was answered. */
export interface ReplayResult {
  readonly fixture: Fixture;
  readonly status: number;
  /** `undefined` where the answer is not that of a receiver, as goods over HTTP are not. */
  readonly outcome: Outcome | undefined;
  readonly durationMs: number;
  /** Names of the handlers that ran to their end; known only where the target is a receiver. */
  readonly ran: readonly string[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The body as it came: goods may be no text. */
  readonly bytes: Uint8Array;
  /** Whether it was answered as the fixture expects; `undefined` where it expects nothing. */
  readonly asExpected: boolean | undefined;
}

/**
 * Sends saved deliveries to a receiver, an application or a running server, signed anew.
 *
 * @param fixture - A loaded fixture or the name of a shipped one; an array of them gives an array.
 * @throws {UsageError} `option_invalid`, where the target is no receiver and no `secret` is given, too;
 *   `fixture_invalid`, `target_invalid`.
 * @throws {WebhookError} `timed_out`, or `response_invalid` where there was no whole answer.
 *
 * @example
 * const { outcome } = await replay(receiver, 'order:paid');
 *
 * @example
 * const results = await replay(app, ['order:paid', './paid-in-june.hook.json'], {
 *   ...{ secret, duplicate: 3, shuffle: true, concurrency: 8 },
 * });
 */
export async function replay(
  target: ReplayTarget,
  fixture: Fixture | string,
  options?: ReplayOptions & { [Name in (typeof LIST_OPTIONS)[number]]?: undefined },
): Promise<ReplayResult>;
export async function replay(
  target: ReplayTarget,
  fixtures: Fixture | string | readonly (Fixture | string)[],
  options?: ReplayManyOptions,
): Promise<ReplayResult[]>;
export async function replay(
  target: ReplayTarget,
  fixtures: Fixture | string | readonly (Fixture | string)[],
  options: ReplayOptions & {
    [Name in keyof ReplayManyOptions]?: ReplayManyOptions[Name] | undefined;
  } = {},
): Promise<ReplayResult | ReplayResult[]> {
  const { duplicate = 1, shuffle = false, concurrency = 1, path = '/webhooks' } = options;
  const { timeout = 10_000, plainHttp = false } = options;
  const unknown = findUnknownOption('replay()', options, OPTIONS);
  if (unknown) throw unknown;
  if (!(typeof timeout === 'number' && timeout > 0 && timeout <= MAX_TIMER_MS)) {
    throw new UsageError(
      'option_invalid',
      `replay() needs a timeout in milliseconds: a number above 0, and at most ${MAX_TIMER_MS}.`,
    );
  }
  atLeastOne('duplicate', duplicate);
  atLeastOne('concurrency', concurrency);
  const loaded = [fixtures].flat().map((one) => (typeof one === 'string' ? loadFixture(one) : one));
  const deliveries = loaded.flatMap((one) => Array.from({ length: duplicate }, () => one));
  const ordered = shuffle === false ? deliveries : shuffled(deliveries, shuffle);

  const isList =
    Array.isArray(fixtures) || LIST_OPTIONS.some((name) => options[name] !== undefined);

  const signer = toSigner(target, options, path);
  const { headerPrefix = isReceiver(target) ? target[SIGN].headerPrefix : 'X-Service-' } = options;
  const open = await openTarget(target, { path, timeout, plainHttp });
  try {
    const results = await inParallel(ordered, concurrency, (one) =>
      sendOne(open, one, { ...options, headerPrefix }, signer, timeout),
    );
    const [first] = results;
    return isList || !first ? results : first;
  } finally {
    await open.close();
  }
}

function atLeastOne(option: string, value: number): void {
  if (Number.isInteger(value) && value >= 1) return;
  throw new UsageError('option_invalid', `replay() needs a ${option} of 1 or more, not ${value}.`);
}

async function sendOne(
  target: OpenTarget,
  fixture: Fixture,
  options: ReplayOptions & { readonly headerPrefix: string },
  signer: Signer,
  timeout: number,
): Promise<ReplayResult> {
  const { headerPrefix, loseResponse = false } = options;
  const request = await prepare(fixture, options, signer, headerPrefix);
  const send = () =>
    within(timeout, `${target.name} did not answer`, (signal) => target.send(request, signal));
  if (loseResponse) await send();
  const startedAt = performance.now();
  const { status, headers, body: bytes, ran, outcome: told } = await send();
  const durationMs = performance.now() - startedAt;
  const body = Buffer.from(bytes).toString('utf8');
  const outcome = told ?? outcomeOf(body);
  const { expect } = fixture;
  // A queue takes what would have been handled.
  const isOutcome = (expect?.outcome ?? outcome) === outcome || outcome === 'queued';
  const asExpected = expect && expect.status === status && isOutcome;
  return { fixture, status, outcome, durationMs, ran, headers, body, bytes, asExpected };
}

function toSigner(target: ReplayTarget, { secret }: ReplayOptions, path: string): Signer {
  if (secret !== undefined) return (body) => sign(body, secret);
  if (isReceiver(target)) {
    return (body) => target[SIGN].sign({ method: 'POST', url: path, headers: {}, body }, body);
  }
  throw new UsageError(
    'option_invalid',
    'replay() cannot sign for this target: pass the secret that it verifies with, as replay(target, fixture, { secret }).',
  );
}

function outcomeOf(body: string): Outcome | undefined {
  try {
    return JSON.parse(body).outcome;
  } catch {
    return undefined;
  }
}

async function inParallel<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  const faults: unknown[] = [];
  const worker = async () => {
    for (const [index, item] of queue) {
      if (faults.length > 0) return;
      try {
        results[index] = await run(item);
      } catch (error) {
        faults.push(error);
      }
    }
  };
  // To the end of all that have begun, so that nothing is sent after it has failed.
  await Promise.all(Array.from({ length: concurrency }, worker));
  if (faults.length > 0) throw faults[0];
  return results;
}

/** Sorted by a small seeded generator (mulberry32), so that a number gives the same order each time. */
function shuffled<Item>(items: readonly Item[], seed: true | number): Item[] {
  let state = seed === true ? Math.floor(Math.random() * 2 ** 32) : seed;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return items
    .map((item) => ({ item, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
