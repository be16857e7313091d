import { UsageError } from 'storefront-webhooks';
import { isJsonObject } from '../schemas/values.js';
import { parseExact, stringifyExact } from '../testing/exact-json.js';
import { mergePatch } from '../testing/merge-patch.js';
import { closest } from './suggestion.js';

/** A changed body, and what was changed. */
export interface Changed {
  readonly body: Uint8Array;
  /** One line per change, such as `status: 100 → 51`. */
  readonly told: readonly string[];
}

interface Changes {
  /** `path=value`, such as `status=51` or `custom.note="hi"`. A value that is not valid JSON is text. */
  readonly set: readonly string[];
  /** A JSON merge patch (RFC 7396). */
  readonly patch?: string | undefined;
  /** Whether to add a path that the body does not have. */
  readonly add: boolean;
}

/**
 * Changes a JSON body. All numbers stay as they were written.
 *
 * @throws {UsageError} If the body does not have a path, so that a misspelled one is not added unnoticed.
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
      throw wrong(`The body has no ${path}.${closest(path, names)} To add it, use --add`);
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
    throw wrong('The body is not valid JSON, so --set and --patch cannot change it');
  }
}

function parseValue(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return text;
  }
}

function parsePatch(text: string): unknown {
  try {
    return parseExact(text);
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
