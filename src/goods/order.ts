import type { Issue } from '../schemas/issue.js';
import { orderDetails, orderIdentity, orderState } from '../schemas/order.js';
import { resource } from '../schemas/resource.js';
import type { InferOutput } from '../schemas/standard-schema.js';
import { fieldOf, isJsonObject } from '../schemas/values.js';

const schema = resource(orderIdentity, { ...orderState, ...orderDetails });

/**
 * The order that goods are made for, read by the specification. Only its `id` is guaranteed, because the
 * specification does not show the call of a dynamic product. Unknown keys are kept.
 */
export type GoodsOrder = InferOutput<typeof schema>;

/** An order, as {@link readOrder} returns it. */
export interface ReadOrder {
  readonly order: GoodsOrder;
  /** The fields that did not fit the specification. */
  readonly issues: readonly Issue[];
  /** The status as it was sent, of any type. */
  readonly status: unknown;
}

/**
 * Reads an order and tolerates faulty fields: a customer who has paid must get the goods even if a field that is
 * not needed is wrong.
 *
 * @returns `undefined` if the order has no id.
 */
export function readOrder(record: unknown): ReadOrder | undefined {
  const reading = schema.read(withTextId(record));
  if (!('value' in reading) || !isJsonObject(record)) return undefined;
  return { order: reading.value, issues: reading.issues, status: fieldOf(record, 'status') };
}

/** Converts a numeric `id` to text, because some services number their orders. */
function withTextId(record: unknown): unknown {
  const id = isJsonObject(record) ? fieldOf(record, 'id') : undefined;
  return isJsonObject(record) && Number.isSafeInteger(id) ? { ...record, id: `${id}` } : record;
}
