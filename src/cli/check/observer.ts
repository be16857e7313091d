import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from 'storefront-webhooks';
import { isJsonObject } from '../../schemas/json.js';
import type { Host } from '../host.js';
import { runForOutput } from './shell-command.js';

/** Counts the goods that were handed out. */
export interface Observer {
  /** Whether it counts those of one order; otherwise all, and differences are taken. */
  readonly perOrder: boolean;
  /** @throws {UsageError} Where it gives no number. */
  count(orderId: string): Promise<number>;
}

const PLACE = '{order}';
const TIMEOUT_MS = 10_000;

/** @param what - A URL that is got, or a command for the shell. */
export function createObserver(what: string, env: Host['env']): Observer {
  const isUrl = /^https?:\/\//.test(what);
  return {
    perOrder: what.includes(PLACE) || (!isUrl && what.includes('ORDER_ID')),
    async count(orderId) {
      const text = what.replaceAll(PLACE, orderId);
      const told = await patiently(() => (isUrl ? get(text) : run(text, orderId, env)));
      const count = firstCount(told.replaceAll(orderId, ''));
      if (count === undefined) throw failed('it printed no whole number');
      return count;
    },
  };
}

/** A database that is just being written, or a shop that restarts, is asked again: one answer ends the whole check. */
async function patiently(ask: () => Promise<string>): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      if (attempt === ATTEMPTS) throw failed(whyOf(error));
      await sleep(PAUSE_MS);
    }
  }
}

const ATTEMPTS = 4;
const PAUSE_MS = 500;

/** With its cause, because fetch says no more than that it failed. */
function whyOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it failed';
  const code = error.cause instanceof Error ? Reflect.get(error.cause, 'code') : undefined;
  return typeof code === 'string' ? `${error.message} (${code})` : error.message;
}

async function get(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`it answered ${response.status}`);
  return response.text();
}

function run(command: string, orderId: string, env: Host['env']): Promise<string> {
  return runForOutput(command, { ...env, ORDER_ID: orderId }, TIMEOUT_MS);
}

/** The first number of a JSON, or the first that stands alone in a text. */
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
    `What --observe names does not count: ${why}. It has to print how many goods were handed out for the order in ${PLACE}, or in $ORDER_ID, such as: 0`,
  );
}
