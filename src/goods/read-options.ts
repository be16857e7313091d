import { OptionChecks } from '../errors/option-checks.js';
import { type CommonSettings, hookHint, readCommon } from '../process/read-options.js';
import { type SecretSource, toSecretSource } from '../request/secrets.js';
import type { Allow, GoodsOptions, GoodsVerifyOptions } from './options.js';

/** The options of `createGoods`, checked and complete. */
export interface GoodsSettings extends CommonSettings {
  /** `undefined` if calls are not signed. */
  readonly secretSource: SecretSource | undefined;
  /** The scope of unsigned calls. */
  readonly scope: string;
  readonly allow: Allow | undefined;
  readonly event: string | undefined;
  readonly order: GoodsVerifyOptions['order'];
  readonly oncePer: NonNullable<GoodsOptions['oncePer']>;
}

const NAMES = [
  'secret',
  'store',
  'verify',
  'oncePer',
  'paidStatuses',
  'scope',
  'headerPrefix',
  'limit',
  'bodyTimeout',
  'timeout',
  'hooks',
  'debug',
  'telemetry',
] as const satisfies (keyof GoodsOptions)[];

const VERIFY = [
  'signed',
  'allow',
  'event',
  'order',
] as const satisfies (keyof GoodsVerifyOptions)[];

const checks = new OptionChecks('createGoods');

/** @throws {UsageError} `secret_invalid` or `option_invalid`, with what to change. */
export function readGoodsOptions(options: GoodsOptions): GoodsSettings {
  checks.check(
    typeof options === 'object' && options !== null,
    'secret',
    'given: createGoods({ secret: process.env.WEBHOOK_SECRET, store }, make)',
  );
  checks.checkNames(options, NAMES, { hint });
  const { verify = {}, oncePer = ({ id }) => id, scope = '', secret } = options;
  checks.check(typeof verify === 'object' && verify !== null, 'verify', 'an object');
  checks.checkNames(verify, VERIFY, { of: 'verify.' });
  const { signed = true, allow, event, order } = verify;
  checks.check(typeof signed === 'boolean', 'verify.signed', 'true or false');
  checks.check(
    typeof allow === 'function' || (signed && allow === undefined),
    'verify.allow',
    signed
      ? 'a function of the order and the call'
      : 'a function of the order and the call, because without a signature anyone could get the goods',
  );
  checks.check(
    event === undefined || (typeof event === 'string' && event !== ''),
    'verify.event',
    'the name of an event',
  );
  checks.check(
    order === undefined || typeof order === 'function',
    'verify.order',
    'a function of the parsed body, such as ({ data }) => data',
  );
  checks.check(
    typeof oncePer === 'function',
    'oncePer',
    'a function of the order, such as (order) => order.id',
  );
  checks.check(
    signed || secret === undefined,
    'secret',
    'left out with verify: { signed: false }, because no call is verified with it',
  );
  return {
    ...readCommon(options, checks),
    secretSource: signed ? toSecretSource(secret, scope, []) : undefined,
    scope,
    allow,
    event,
    order,
    oncePer,
  };
}

function hint(name: string): string | undefined {
  return name === 'queue' ? 'The goods are the answer, so they cannot wait. ' : hookHint(name);
}
