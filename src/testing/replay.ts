import { UsageError } from '../errors/errors.js';
import { MAX_TIMER_MS } from '../errors/option-checks.js';
import { refuseUnknownOption } from '../errors/text.js';
import type { Outcome } from '../request/outcome.js';
import { SIGN } from '../request/secrets.js';
import { type Secret, sign } from '../request/signature.js';
import type { Fixture } from './fixture.js';
import { prefixOf } from './header-prefix.js';
import { readFixture } from './load.js';
import { type OutgoingRequest, prepare, type ReplayFaults, type Signer } from './prepare.js';
import { within } from './response.js';
import {
  isReceiver,
  joinHeaders,
  type OpenTarget,
  openTarget,
  type ReplayTarget,
} from './target.js';
import { now } from './timers.js';

/** Options of {@link replay} for one delivery. */
export interface ReplayOptions extends ReplayFaults {
  /** The secret to sign with. Default: the receiver's own; for every other target, the secret is required. */
  secret?: Secret;
  /**
   * The prefix of the provider's headers. Default: the receiver's; for other targets the fixture's own, which is
   * `X-Service-` in the shipped ones.
   */
  headerPrefix?: string;
  /** The path at which an application has mounted its receiver. Default `/webhooks`. */
  path?: string;
  /**
   * Whether the sender loses the first answer and sends the delivery again. The result is the second answer.
   * Default false.
   */
  loseResponse?: boolean;
  /** The milliseconds that each request may take, from its start to the complete answer. Default 10,000. */
  timeout?: number;
  /**
   * Whether to send to an `http:` address that is not on this machine. Anyone who reads a delivery on the
   * network can send it again for as long as the secret is in use. Default false.
   */
  plainHttp?: boolean;
}

/** Options of {@link replay} for several deliveries. */
export interface ReplayManyOptions extends ReplayOptions {
  /** How many times each delivery is sent in all. Default 1. */
  duplicate?: number;
  /** Whether to shuffle the deliveries. A number is a seed: the order is the same each time. Default false. */
  shuffle?: boolean | number;
  /** The number of deliveries that are sent at once. Default 1. */
  concurrency?: number;
}

const OPTIONS = [
  ...(['secret', 'headerPrefix', 'path', 'loseResponse', 'timeout', 'plainHttp'] as const),
  ...(['event', 'id', 'corrupt', 'chunks', 'duplicate', 'shuffle', 'concurrency'] as const),
] satisfies (keyof ReplayManyOptions)[];

// If one of these is given, the result is a list.
const LIST_OPTIONS = ['duplicate', 'shuffle', 'concurrency'] as const;

/** The answer to one replayed delivery. */
export interface ReplayResult {
  readonly fixture: Fixture;
  readonly status: number;
  /** The receiver's outcome; `undefined` if the answer is not a receiver's, such as that of goods over HTTP. */
  readonly outcome: Outcome | undefined;
  readonly durationMs: number;
  /** The names of the handlers that ran to their end; `undefined` if the target is not a receiver. */
  readonly ran: readonly string[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The bytes of the body. Goods may not be text. */
  readonly bytes: Uint8Array;
  /**
   * Whether the answer is the one that the fixture expects; `undefined` if it expects nothing. If it expects `handled`,
   * `duplicate` is expected as well for a delivery that was sent before.
   */
  readonly asExpected: boolean | undefined;
}

/**
 * Sends saved deliveries to a receiver, an application or a running server, with new signatures.
 *
 * @param fixture - A loaded fixture or the name of a shipped one. An array of them returns an array.
 * @throws {UsageError} `option_invalid`, also if the target is not a receiver and no `secret` is given;
 *   `fixture_invalid`, `target_invalid`.
 * @throws {WebhookError} `timed_out`, or `response_invalid` if there was no complete answer.
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
  refuseUnknownOption('replay()', options, OPTIONS);
  if (!(typeof timeout === 'number' && timeout > 0 && timeout <= MAX_TIMER_MS)) {
    throw new UsageError(
      'option_invalid',
      `replay() needs a timeout in milliseconds: a number above 0, and at most ${MAX_TIMER_MS}.`,
    );
  }
  atLeastOne('duplicate', duplicate);
  atLeastOne('concurrency', concurrency);
  const needed =
    "replay() needs one fixture, or the name of one such as 'order:paid', or an array of them";
  const loaded = [fixtures].flat().map((one) => readFixture(one, needed));
  const deliveries = loaded.flatMap((one) => Array.from({ length: duplicate }, () => one));
  const ordered = shuffle === false ? deliveries : shuffled(deliveries, shuffle);

  const isList =
    Array.isArray(fixtures) || LIST_OPTIONS.some((name) => options[name] !== undefined);

  const signer = toSigner(target, options, path);
  const ofTarget =
    options.headerPrefix ?? (isReceiver(target) ? target[SIGN].headerNames.prefix : undefined);
  const open = await openTarget(target, { path, timeout, plainHttp });
  const sent = new Set<string>();
  try {
    const results = await inParallel(ordered, concurrency, (one) =>
      sendOne(open, one, { ...options, headerPrefix: ofTarget ?? prefixOf(one) }, signer, {
        timeout,
        sent,
      }),
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
  { timeout, sent }: { readonly timeout: number; readonly sent: Set<string> },
): Promise<ReplayResult> {
  const { headerPrefix, loseResponse = false } = options;
  const request = await prepare(fixture, options, signer, headerPrefix);
  const id = headerOf(request.headers, `${headerPrefix}Webhook`);
  const isAgain = loseResponse || sent.has(id);
  sent.add(id);
  const send = () =>
    within(timeout, `${target.name} did not answer`, (signal) => target.send(request, signal));
  if (loseResponse) await send();
  const startedAt = now();
  const { status, headers, body: bytes, ran, outcome: told } = await send();
  const durationMs = now() - startedAt;
  const body = Buffer.from(bytes).toString('utf8');
  const outcome = told ?? outcomeOf(body);
  const { expect } = fixture;
  const isOutcome =
    (expect?.outcome ?? outcome) === outcome ||
    // With a queue, a delivery that would have been handled is `queued`.
    outcome === 'queued' ||
    (isAgain && expect?.outcome === 'handled' && outcome === 'duplicate');
  const asExpected = expect && expect.status === status && isOutcome;
  return { fixture, status, outcome, durationMs, ran, headers, body, bytes, asExpected };
}

function toSigner(target: ReplayTarget, { secret }: ReplayOptions, path: string): Signer {
  if (secret !== undefined) return ({ body }) => sign(body, secret);
  if (isReceiver(target)) {
    return async ({ headers, ...request }) => {
      const asked = { ...request, url: path, headers: joinHeaders(headers) };
      const [secret] = (await target[SIGN].secretSource?.find(asked))?.secrets ?? [];
      // Without a shop, any signature: the receiver then reports the unknown shop, not a missing signature.
      return secret === undefined ? '0'.repeat(128) : sign(request.body, secret);
    };
  }
  throw new UsageError(
    'option_invalid',
    'replay() cannot sign for this target: pass the secret that the target verifies with, as replay(target, fixture, { secret }).',
  );
}

function headerOf(headers: OutgoingRequest['headers'], name: string): string {
  return headers.find(([one]) => one.toLowerCase() === name.toLowerCase())?.[1] ?? '';
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
  // Wait for every request that has begun, so that nothing is sent after an error is thrown.
  await Promise.all(Array.from({ length: concurrency }, worker));
  if (faults.length > 0) throw faults[0];
  return results;
}

/** Shuffles with a small seeded generator (mulberry32), so that a number gives the same order each time. */
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
