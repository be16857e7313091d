import type { Issue } from '../schemas/issue.js';
import { isJsonObject } from '../schemas/json.js';
import { orderDetails, orderIdentity, orderState } from '../schemas/order.js';
import { resource } from '../schemas/resource.js';
import type { InferOutput } from '../schemas/standard-schema.js';

const schema = resource(orderIdentity, { ...orderState, ...orderDetails });

/**
 * The order that goods are made for, as far as it fits the specification: only its `id` is certain, because what
 * a dynamic product is called with is not shown there. Unknown keys are kept.
 */
export type GoodsOrder = InferOutput<typeof schema>;

/** An order that was read. */
export interface ReadOrder {
  readonly order: GoodsOrder;
  /** What was odd about it. */
  readonly issues: readonly Issue[];
  /** Its status as it came, of whatever type. */
  readonly status: unknown;
}

/**
 * Reads an order generously: whoever has paid for it must not be refused over a field that nobody needs.
 *
 * @returns Nothing where it has no id.
 */
export function readOrder(record: unknown): ReadOrder | undefined {
  const reading = schema.read(withTextId(record));
  if (!('value' in reading) || !isJsonObject(record)) return undefined;
  return { order: reading.value, issues: reading.issues, status: record.status };
}

/** Some services number their orders. */
function withTextId(record: unknown): unknown {
  return isJsonObject(record) && Number.isSafeInteger(record.id)
    ? { ...record, id: `${record.id}` }
    : record;
}
