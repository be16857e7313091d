import type { Variant } from '../api/endpoint.js';
import { UsageError } from '../errors.js';
import { didYouMean, findUnknownOption } from '../report/text.js';
import type { ClockMode } from './clock.js';
import { type Gateway, toGateway } from './trade/gateways.js';
import { chooseUnknowns, UNKNOWNS, type Unknowns } from './unknowns.js';
import type { WebhookAttempt } from './webhooks/sending.js';

/** What {@link createSandbox} takes. */
export interface SandboxOptions {
  /** Which shape products have (specification: Product). Default `'newer'`. */
  variant?: Variant;
  /**
   * The file of SQLite that everything is kept in, by `node:sqlite` (from Node 22.13 on) or `libsql`, if it is
   * installed. Default: memory only.
   */
  db?: string;
  /** How time goes by: as outside, only by `clock.advance()`, or as fast as can be. Default `'real'`. */
  clock?: ClockMode;
  /** What signs the webhooks of every new account. Default: `whsec_` and the account's key. */
  webhookSecret?: string;
  /** The gateways that are configured in a new account. Default: all of them. */
  gateways?: readonly Gateway[];
  /**
   * What to do at the places that the specification does not show. Default: what each place says.
   *
   * @example
   * createSandbox({ unknowns: { retries: 'steady' } });
   */
  unknowns?: Partial<Unknowns>;
  /** What the names of the webhooks' headers begin with, with the dash that ends it. Default `X-Service-`. */
  headerPrefix?: string;
  /**
   * Hosts that webhooks may go to though their address is private, also by plain HTTP; without a port, such as
   * `host.docker.internal`. Default: none beside this machine.
   */
  allowHosts?: readonly string[];
  /** Picks at each of these places among what is legal. Without it, the defaults hold. */
  seed?: number;
  /** Is told of each attempt to send a webhook, once it has been answered or has failed. Default: nobody is. */
  onAttempt?: (attempt: WebhookAttempt) => void;
}

/** The options, checked and complete. */
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

/** @throws {UsageError} `option_invalid`, with what to change. */
export function readOptions(options: SandboxOptions): SandboxSettings {
  const unknown = findUnknownOption('createSandbox', options, NAMES);
  if (unknown) throw unknown;
  const { variant, db, clock = 'real', webhookSecret, gateways, unknowns = {}, seed } = options;
  const { headerPrefix, allowHosts, onAttempt } = options;
  check(
    variant === undefined || variant in UNKNOWNS.variant.choices,
    'variant',
    "'newer' or 'older'",
  );
  check(db === undefined || (typeof db === 'string' && db !== ''), 'db', 'the path of a file');
  check(['real', 'manual', 'fast'].includes(clock), 'clock', "'real', 'manual' or 'fast'");
  check(webhookSecret === undefined || webhookSecret.length > 0, 'webhookSecret', 'a text');
  check(
    gateways === undefined || gateways.every((name) => toGateway(name) === name),
    'gateways',
    'a list of gateways, such as bitcoin',
  );
  check(
    headerPrefix === undefined || /^[\w-]*-$/.test(headerPrefix),
    'headerPrefix',
    "what the names of headers begin with, such as 'X-Service-'",
  );
  check(
    allowHosts === undefined || allowHosts.every(isHost),
    'allowHosts',
    'a list of hosts, without https:// and without a port',
  );
  check(
    onAttempt === undefined || typeof onAttempt === 'function',
    'onAttempt',
    'a function of an attempt',
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
