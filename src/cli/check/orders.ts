import { UsageError } from 'storefront-webhooks';
import type { Fixture } from 'storefront-webhooks/testing';
import { isJsonObject } from '../../schemas/json.js';
import { parseExact, stringifyExact } from '../../testing/exact-json.js';
import { mergePatch } from '../../testing/merge-patch.js';

/** A delivery before it is signed. */
export interface Draft {
  readonly event: string;
  readonly id: string;
  readonly body: Uint8Array;
}

/** Makes orders that nobody has seen yet, all like one. */
export interface Orders {
  /** An id of its own. */
  newId(): string;
  /** The JSON of an order; paid, unless the changes say otherwise. */
  text(id: string, changes?: Readonly<Record<string, unknown>>): string;
}

/**
 * @param like - A paid order: its id, its times and, where a row says so, its status are replaced.
 * @throws {UsageError} Where it is no order.
 */
export function createOrders({ file, body }: Fixture): Orders {
  const base = parse(body);
  if (!isJsonObject(base) || base.id === undefined || base.status === undefined) {
    throw new UsageError(
      'fixture_invalid',
      `${file} is no order, which has an id and a status. Give the body of an order:paid, or leave --order out.`,
    );
  }
  return {
    newId: () => `ord_${crypto.randomUUID().replaceAll('-', '').slice(0, 20)}`,
    text(id, changes = {}) {
      const now = new Date().toISOString();
      const fresh = { id, created_at: now, updated_at: now, ...changes };
      return stringifyExact(mergePatch(base, fresh));
    },
  };
}

/** One webhook about an order, under an id of its own. */
export function draft(event: string, body: string | Uint8Array, id = newDeliveryId()): Draft {
  return { event, id, body: typeof body === 'string' ? new TextEncoder().encode(body) : body };
}

export function newDeliveryId(): string {
  return `whl_${crypto.randomUUID()}`;
}

function parse(body: Uint8Array): unknown {
  try {
    return parseExact(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}
