import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from 'storefront-webhooks';
import { isJsonObject } from '../../schemas/values.js';
import type { Host } from '../host.js';
import { runForOutput } from './shell-command.js';

/** Counts the goods that were handed out. */
export interface Observer {
  /** Whether it counts the goods of one order. Otherwise it counts all goods, and the check takes the difference. */
  readonly perOrder: boolean;
  /**
   * Counts the goods.
   *
   * @throws {UsageError} If the command or URL gives no number.
   */
  count(orderId: string): Promise<number>;
}

const PLACE = '{order}';
const TIMEOUT_MS = 10_000;

/**
 * Creates an observer.
 *
 * @param what - A URL to fetch, or a shell command.
 * @param ended - Ends all counts.
 */
export function createObserver(what: string, env: Host['env'], ended: AbortSignal): Observer {
  const isUrl = /^https?:\/\//.test(what);
  return {
    perOrder: what.includes(PLACE) || (!isUrl && what.includes('ORDER_ID')),
    async count(orderId) {
      const text = what.replaceAll(PLACE, orderId);
      const told = await patiently(ended, () =>
        isUrl ? get(text, ended) : run(text, orderId, env, ended),
      );
      const count = firstCount(told.replaceAll(orderId, ''));
      if (count === undefined) throw failed('the output contains no whole number');
      return count;
    },
  };
}

/** Retries, because a database may be locked or a shop restarting, and one failure would end the whole check. */
async function patiently(ended: AbortSignal, ask: () => Promise<string>): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    ended.throwIfAborted();
    try {
      return await ask();
    } catch (error) {
      if (attempt === ATTEMPTS || ended.aborted) throw failed(whyOf(error));
      await sleep(PAUSE_MS);
    }
  }
}

const ATTEMPTS = 4;
const PAUSE_MS = 500;

/** Returns the message with the code of its cause: the message of fetch only says that it failed. */
function whyOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the request failed';
  const code = error.cause instanceof Error ? Reflect.get(error.cause, 'code') : undefined;
  return typeof code === 'string' ? `${error.message} (${code})` : error.message;
}

async function get(url: string, ended: AbortSignal): Promise<string> {
  const signal = AbortSignal.any([ended, AbortSignal.timeout(TIMEOUT_MS)]);
  const response = await fetch(url, { signal });
  if (!response.ok) throw new Error(`the URL answered ${response.status}`);
  return response.text();
}

function run(command: string, orderId: string, env: Host['env'], ended: AbortSignal) {
  return runForOutput(command, { ...env, ORDER_ID: orderId }, TIMEOUT_MS, ended);
}

/** Returns the first number in JSON, or the first free-standing number in a text. */
export function firstCount(told: string): number | undefined {
  try {
    return inJson(JSON.parse(told));
  } catch {
    const [found] = /(?<![\w.-])\d+(?![\w.])/.exec(told) ?? [];
    return found === undefined ? undefined : Number(found);
  }
}

function inJson(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? value : undefined;
  if (typeof value === 'string' && /^\d+$/.test(value)) return Number(value);
  const members = Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : [];
  for (const member of members) {
    const found = inJson(member);
    if (found !== undefined) return found;
  }
  return undefined;
}

function failed(why: string): UsageError {
  return new UsageError(
    'option_invalid',
    `--observe does not count: ${why}. The command or URL has to print how many goods were handed out for the order in ${PLACE}, or in $ORDER_ID, such as: 0`,
  );
}
