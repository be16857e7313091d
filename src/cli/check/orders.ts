import { UsageError } from 'storefront-webhooks';
import type { Fixture } from 'storefront-webhooks/testing';
import { isJsonObject, type JsonObject } from '../../schemas/values.js';
import { parseExact, stringifyExact } from '../../testing/exact-json.js';
import { mergePatch } from '../../testing/merge-patch.js';

/** A delivery before it is signed. */
export interface Draft {
  readonly event: string;
  readonly id: string;
  readonly body: Uint8Array;
}

/** Makes new orders, all similar to a given one. */
export interface Orders {
  newId(): string;
  /** Returns the JSON of an order, which is paid unless the changes say otherwise. */
  text(id: string, changes?: Readonly<Record<string, unknown>>): string;
  /** Returns the body with this event in it, if bodies name their event. */
  named(event: string, body: Uint8Array): Uint8Array;
}

/**
 * Makes orders from the body of a paid one.
 *
 * @param paid - The body of a paid order. The order may be nested, as in `data`.
 * @param unpaid - The same order unpaid. Needed if the status is not a number, and so cannot be changed.
 * @throws {UsageError} If the body contains no order, or the unpaid body is missing.
 */
export function createOrders(paid: Fixture, unpaid?: Fixture): Orders {
  const body = parse(paid);
  const { path, order } = findOrder(body, paid.file);
  if (!unpaid && typeof order.status !== 'number') {
    throw new UsageError(
      'option_invalid',
      `The status of the order in ${paid.file} is not a number, so the check cannot make it unpaid. Add the body of an unpaid order: --unpaid <file>.`,
    );
  }
  const unpaidBody = unpaid && parse(unpaid);
  const ownEvent = isJsonObject(body) && path.length > 0 ? body.event : undefined;
  return {
    newId: () => `ord_${crypto.randomUUID().replaceAll('-', '').slice(0, 20)}`,
    text(id, changes = {}) {
      const { status, ...others } = changes;
      const now = new Date().toISOString();
      const fresh = {
        [order.uniqid === undefined ? 'id' : 'uniqid']: id,
        ...(path.length === 0 && { created_at: now, updated_at: now }),
        ...(unpaid ? others : changes),
      };
      const patch = path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), fresh);
      return stringifyExact(mergePatch((status !== undefined && unpaidBody) || body, patch));
    },
    named(event, bytes) {
      if (typeof ownEvent !== 'string' || event === ownEvent) return bytes;
      const toMember = (name: string) => `"event":${JSON.stringify(name)}`;
      const text = new TextDecoder().decode(bytes);
      return new TextEncoder().encode(text.replace(toMember(ownEvent), toMember(event)));
    },
  };
}

/** Finds the outermost object that has an id, and a status or a time of payment. */
function findOrder(body: unknown, file: string) {
  const places: { value: unknown; path: readonly string[] }[] = [{ value: body, path: [] }];
  for (const { value, path } of places) {
    if (!isJsonObject(value)) continue;
    if (isOrder(value)) return { order: value, path };
    for (const [name, member] of Object.entries(value))
      places.push({ value: member, path: [...path, name] });
  }
  throw new UsageError(
    'fixture_invalid',
    `${file} is not an order: the id or the status is missing. Give the body of an order:paid, or leave --order out.`,
  );
}

function isOrder({ id, uniqid, status, paid_at }: JsonObject): boolean {
  return (uniqid ?? id) !== undefined && (status ?? paid_at) !== undefined;
}

/** Returns a webhook about an order, with a new id by default. */
export function draft(event: string, body: string | Uint8Array, id = newDeliveryId()): Draft {
  return { event, id, body: typeof body === 'string' ? new TextEncoder().encode(body) : body };
}

export function newDeliveryId(): string {
  return `whl_${crypto.randomUUID()}`;
}

function parse({ body }: Fixture): unknown {
  try {
    return parseExact(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}
