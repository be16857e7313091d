import { UsageError } from 'storefront-webhooks';
import { isJsonObject } from '../schemas/json.js';
import { parseExact, stringifyExact } from '../testing/exact-json.js';
import { mergePatch } from '../testing/merge-patch.js';
import { closest } from './suggestion.js';

/** A body that was changed, and what was. */
export interface Changed {
  readonly body: Uint8Array;
  /** Such as `status: 100 → 51`. */
  readonly told: readonly string[];
}

interface Changes {
  /** `path=value`, such as `status=51` or `custom.note="hi"`: JSON, or else text. */
  readonly set: readonly string[];
  /** A JSON merge patch (RFC 7396). */
  readonly patch?: string | undefined;
  /** Whether a path that is not there is added. */
  readonly add: boolean;
}

/**
 * Changes a body of JSON, whose other numbers stay as they were written.
 *
 * @throws {UsageError} Where a path is not there, so that no change is made in the wrong place without a word.
 */
export function change(body: Uint8Array, { set, patch, add }: Changes): Changed {
  if (set.length === 0 && patch === undefined) return { body, told: [] };
  let payload = parseBody(body);
  const told: string[] = [];
  for (const one of set) {
    const [, path = '', text = ''] = /^([^=]+)=(.*)$/s.exec(one) ?? [];
    if (path === '') throw wrong(`--set takes path=value, such as status=51, and not ${one}`);
    const steps = path.split('.');
    const before = find(payload, steps);
    if (before === undefined && !add) {
      const names = isJsonObject(payload) ? Object.keys(payload) : [];
      throw wrong(`There is no ${path} in the body.${closest(path, names)} With --add it is added`);
    }
    const value = parseValue(text);
    payload = withValue(payload, steps, value);
    told.push(`${path}: ${before === undefined ? 'added' : show(before)} → ${show(value)}`);
  }
  if (patch !== undefined) {
    payload = mergePatch(payload, parsePatch(patch));
    told.push(`patched by ${patch}`);
  }
  return { body: new TextEncoder().encode(stringifyExact(payload)), told };
}

function parseBody(body: Uint8Array): unknown {
  try {
    return parseExact(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    throw wrong('The body is no JSON, so there is nothing to set in it');
  }
}

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function parsePatch(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw wrong(`--patch takes a JSON merge patch, such as '{"status":51}'`);
  }
}

function find(value: unknown, [step, ...rest]: readonly string[]): unknown {
  if (step === undefined) return value;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
  return find(Reflect.get(value, step), rest);
}

function withValue(target: unknown, [step, ...rest]: readonly string[], value: unknown): unknown {
  if (step === undefined) return value;
  if (Array.isArray(target)) {
    return Object.assign([...target], { [step]: withValue(target[Number(step)], rest, value) });
  }
  // A Map, so that a member named "__proto__" is a member like any other.
  const members = new Map<string, unknown>(isJsonObject(target) ? Object.entries(target) : []);
  members.set(step, withValue(members.get(step), rest, value));
  return Object.fromEntries(members);
}

function show(value: unknown): string {
  return stringifyExact(value);
}

function wrong(message: string): UsageError {
  return new UsageError('option_invalid', `${message}.`);
}
