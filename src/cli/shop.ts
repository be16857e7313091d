import { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { UsageError } from 'storefront-webhooks';
import { ApiError, type Client, createClient } from 'storefront-webhooks/api';
import type { RecoveryProgress, SourceOptions } from 'storefront-webhooks/recovery';
import { unexplained } from '../errors/docs-link.js';
import { isUntrusted } from '../runtime/certificates.js';
import { TRUST } from './causes.js';
import { addCredentialFlags, type CredentialFlags, readCredentials } from './credentials.js';
import type { ExitCode } from './failure.js';
import { describeShopError, type LoadedShop, loadShop } from './load-shop.js';
import { toCount } from './numbers.js';
import type { Printer } from './printer.js';
import type { Session } from './session.js';
import { toDate, toDuration, toSince } from './times.js';

/** The flags that name a shop and its provider. */
export interface ShopFlags extends CredentialFlags {
  readonly receiver: string;
  readonly url: readonly string[];
  readonly api: string;
  readonly since: number | Date;
  readonly pendingAfter: number;
  readonly perSecond: number;
  readonly now?: Date;
}

/** Adds the flags that {@link withShop} takes to a command. */
export function addShopFlags(command: Command): Command {
  command
    .requiredOption('--receiver <file>', 'the file of your shop that exports its receiver')
    .requiredOption(
      '--url <address>',
      'the address that the provider sends to; may be given several times',
      (one: string, before: readonly string[] = []) => [...before, one],
    )
    .requiredOption('--api <address>', "the address of the provider's API, without /api/v2");
  return addCredentialFlags(command)
    .addOption(
      new Option('--since <time>', 'how far back to look: 12h, 7d, or a date in UTC')
        .argParser(toSince)
        .default(toSince('7d'), '7d'),
    )
    .addOption(
      new Option('--pending-after <time>', 'how late an answer may be before it counts as missed')
        .argParser(toDuration)
        .default(toDuration('5m'), '5m'),
    )
    .option('--per-second <number>', 'how many API requests to make per second at most', toCount, 5)
    .option('--now <date>', 'the current time, if the clock of the provider differs', toDate);
}

/** The end of a help text, which says what the file of a shop has to export. */
export const EXPORTS = `The file exports the receiver with its handlers and its durable store: as receiver, as the
default, or as the function makeReceiver that creates it. Importing the file must not start a
server. Start the server in another file, which imports this one. TypeScript:
NODE_OPTIONS='--import tsx'.`;

/** The options that recovery takes to reach a shop. */
export type Shop = Omit<SourceOptions, 'onProgress'>;

const STOPPED = new Error('stopped');

/**
 * Loads a shop, runs `work` with it, and closes it.
 *
 * @returns The result of `work`; `false` if the operator interrupted it.
 */
export async function withShop(
  flags: ShopFlags,
  session: Session,
  work: (shop: Shop, exported: LoadedShop) => Promise<boolean>,
): Promise<boolean> {
  const { host, printer } = session;
  const client = createClient({ baseUrl: flags.api, auth: readCredentials(flags, host) });
  const leave = host.admit(toStderr(session), (error) =>
    tellOfCrash(error, flags.receiver, printer),
  );
  try {
    const before = countServers();
    const loaded = await loadShop(flags.receiver, host);
    // A server begins to listen a moment after the call.
    await setImmediate();
    if (countServers() > before) {
      printer.note(
        `${flags.receiver} starts a server, which accepts requests while this command runs. ${APART}`,
      );
    }
    return await withLoaded(flags, session, client, loaded, work);
  } finally {
    leave();
  }
}

async function withLoaded(
  flags: ShopFlags,
  { host, printer }: Session,
  client: Client,
  loaded: LoadedShop,
  work: (shop: Shop, exported: LoadedShop) => Promise<boolean>,
): Promise<boolean> {
  const { receiver } = loaded;
  const stopped = new AbortController();
  void host.interrupted().then(() => {
    printer.note('Stopping. Interrupt again to stop at once.');
    stopped.abort(STOPPED);
  });
  const { url, since, pendingAfter, perSecond, now } = flags;
  const { signal } = stopped;
  printer.progress('querying the provider …');
  try {
    const shop = {
      ...{ receiver, client, url, since, pendingAfter, perSecond, signal },
      ...(now && { now }),
    };
    return await work(shop, loaded);
  } catch (error) {
    if (error !== STOPPED) throw toUsageError(error);
    printer.note('Stopped. Run the command again to resume.');
    return false;
  } finally {
    printer.progress(undefined);
    await receiver.close();
  }
}

function countServers(): number {
  const resources = process.getActiveResourcesInfo?.() ?? [];
  return resources.filter((name) => name === 'TCPServerWrap').length;
}

const APART = 'Move listen() to another file, which imports the receiver.';

/** Reports an uncaught error. Often a server that the file starts finds its port taken by the running shop. */
function tellOfCrash(error: unknown, file: string, printer: Printer): ExitCode {
  const isTaken = error instanceof Error && Reflect.get(error, 'code') === 'EADDRINUSE';
  printer.progress(undefined);
  printer.note(
    isTaken
      ? `${file} starts a server when it is imported, and its port is in use. ${APART}`
      : `${file} failed: ${describeShopError(error)}`,
  );
  return isTaken ? 2 : 1;
}

const STEPS = { log: 'log, page', orders: 'orders, page', deliveries: 'delivery' } as const;

/** Shows the progress. Prints a note, also in a pipe, while the provider cannot answer. */
export function showProgress({ step, done, of, reason }: RecoveryProgress, printer: Printer): void {
  if (step !== 'waiting') {
    printer.progress(`${STEPS[step]} ${done}${of === undefined ? '' : ` of ${of}`} …`);
  } else if (done === 1) {
    printer.note(`The provider cannot answer now: ${reason} Retrying …`);
  }
}

/** Returns a stream that sends the output of handlers to stderr, so that it does not mix with lines of JSON. */
function toStderr({ host, printer }: Session): Writable {
  return new Writable({
    write(text, _, done) {
      printer.progress(undefined);
      host.stderr.write(String(text));
      done();
    },
  });
}

/** Turns an error about rejected credentials into a usage error, and adds advice to one about a certificate. */
function toUsageError(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const { code, status, message, fault } = error;
  if (isUntrusted(fault ?? '')) return new Error(`${unexplained(message)} ${TRUST}`);
  if (code !== 'unauthenticated' && code !== 'forbidden') return error;
  return new UsageError(
    'option_invalid',
    code === 'forbidden'
      ? `The credentials are valid, but may not do this (${status}): ${message} Use a token of this account that may.`
      : `The provider's API rejects the credentials (${status}): ${message} Check the token, and that it belongs to this account.`,
  );
}
