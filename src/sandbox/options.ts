import type { Variant } from '../api/endpoint.js';
import { UsageError } from '../errors/errors.js';
import { didYouMean, refuseUnknownOption } from '../errors/text.js';
import type { ClockMode } from './clock.js';
import { type Gateway, toGateway } from './trade/gateways.js';
import { chooseUnknowns, UNKNOWNS, type Unknowns } from './unknowns.js';
import { canSign } from './webhooks/can-sign.js';
import type { WebhookAttempt } from './webhooks/sender.js';

/** The options of {@link createSandbox}. */
export interface SandboxOptions {
  /** The shape of products (specification: Product). Default `'newer'`. */
  variant?: Variant;
  /**
   * The path of the SQLite file that keeps everything. Needs Node 22.13 or later, whose `node:sqlite` opens it,
   * or an installed `libsql`. Default: memory only.
   */
  db?: string;
  /**
   * How time passes: `'real'` follows the machine's clock, `'manual'` moves only by `clock.advance()`, and
   * `'fast'` jumps to whatever is due next. Default `'real'`.
   */
  clock?: ClockMode;
  /** The webhook secret of every account that has not set its own. Default: `whsec_` and the account's key. */
  webhookSecret?: string;
  /** The gateways configured in every account that has not set its own. Default: all of them. */
  gateways?: readonly Gateway[];
  /**
   * The behaviour at the places that the specification does not show. Default: the first choice of each place.
   *
   * @example
   * createSandbox({ unknowns: { retries: 'steady' } });
   */
  unknowns?: Partial<Unknowns>;
  /** The prefix of the webhooks' header names, including the dash at its end. Default `X-Service-`. */
  headerPrefix?: string;
  /**
   * Hosts that may receive webhooks at a private address and by plain HTTP, without a port, such as
   * `host.docker.internal`. Default: none besides this machine.
   */
  allowHosts?: readonly string[];
  /** Picks a legal choice at each place that `unknowns` does not set. Without it, the defaults apply. */
  seed?: number;
  /** Called with each attempt to send a webhook, after its answer or failure. Default: no call. */
  onAttempt?: (attempt: WebhookAttempt) => void;
}

/** The options after {@link readOptions} has checked them. */
export interface SandboxSettings {
  readonly unknowns: Unknowns;
  readonly db: string | undefined;
  readonly clock: ClockMode;
  readonly webhookSecret: string | undefined;
  readonly gateways: readonly Gateway[] | undefined;
  readonly headerPrefix: string | undefined;
  readonly allowHosts: readonly string[] | undefined;
  readonly onAttempt: SandboxOptions['onAttempt'];
}

const NAMES = [
  'variant',
  'db',
  'clock',
  'webhookSecret',
  'gateways',
  'unknowns',
  'headerPrefix',
  'allowHosts',
  'seed',
  'onAttempt',
] as const satisfies (keyof SandboxOptions)[];

/** Checks the options. @throws {UsageError} `option_invalid`, whose message says what to change. */
export function readOptions(options: SandboxOptions): SandboxSettings {
  refuseUnknownOption('createSandbox', options, NAMES);
  const { variant, db, clock = 'real', webhookSecret, gateways, unknowns = {}, seed } = options;
  const { headerPrefix, allowHosts, onAttempt } = options;
  check(
    variant === undefined || variant in UNKNOWNS.variant.choices,
    'variant',
    "'newer' or 'older'",
  );
  check(db === undefined || (typeof db === 'string' && db !== ''), 'db', 'the path of a file');
  check(['real', 'manual', 'fast'].includes(clock), 'clock', "'real', 'manual' or 'fast'");
  check(
    webhookSecret === undefined || canSign(webhookSecret),
    'webhookSecret',
    'a text to sign with: not blank, and not the text of a missing value, such as "undefined"',
  );
  check(
    gateways === undefined || gateways.every((name) => toGateway(name) === name),
    'gateways',
    'a list of gateways, such as bitcoin',
  );
  check(
    headerPrefix === undefined || /^[\w-]*-$/.test(headerPrefix),
    'headerPrefix',
    "the prefix of header names with its dash, such as 'X-Service-'",
  );
  check(
    allowHosts === undefined || allowHosts.every(isHost),
    'allowHosts',
    'a list of hosts, without https:// and without a port',
  );
  check(
    onAttempt === undefined || typeof onAttempt === 'function',
    'onAttempt',
    'a function that takes an attempt',
  );
  check(seed === undefined || Number.isSafeInteger(seed), 'seed', 'a whole number');
  checkUnknowns(unknowns);
  const given = { ...unknowns, ...(variant && { variant }) };
  return {
    unknowns: chooseUnknowns(given, seed),
    db,
    clock,
    webhookSecret,
    gateways,
    headerPrefix,
    allowHosts,
    onAttempt,
  };
}

function isHost(text: string): boolean {
  return (
    URL.canParse(`http://${text}`) && new URL(`http://${text}`).hostname === text.toLowerCase()
  );
}

function checkUnknowns(unknowns: object): void {
  const places = Object.keys(UNKNOWNS);
  for (const [name, choice] of Object.entries(unknowns)) {
    const place = Object.entries(UNKNOWNS).find(([one]) => one === name)?.[1];
    const hint = `one of ${places.join(', ')}. ${didYouMean(name, places)}`.trim();
    check(place !== undefined, `unknowns.${name}`, hint);
    const choices = Object.keys(place.choices);
    check(choices.includes(choice), `unknowns.${name}`, `one of ${choices.join(', ')}`);
  }
}

function check(condition: boolean, option: string, expected: string): asserts condition {
  if (!condition) {
    throw new UsageError(
      'option_invalid',
      `createSandbox: the option ${option} has to be ${expected}.`,
    );
  }
}
