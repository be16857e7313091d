import type { StatedOrder } from '../process/confirm.js';
import type { Issue } from '../schemas/issue.js';
import { describeStatus, type Order } from '../schemas/order.js';
import { isSameAmount, toSortable } from '../schemas/values.js';

const SAME = ['id', 'product_id', 'email', 'currency', 'quantity'] as const;

/** The fields of the provider's order that are compared. */
export type ComparedOrder = Pick<
  Order,
  (typeof SAME)[number] | 'value' | 'status' | 'updated_at' | 'product_title'
>;

/** Returns the compared fields alone. The others may be large, such as the goods. */
export function toCompared(order: Order): ComparedOrder {
  const { id, product_id, email, currency, quantity } = order;
  const { value, status, updated_at, product_title } = order;
  return { id, product_id, email, currency, quantity, value, status, updated_at, product_title };
}

export const NO_SUCH_ORDER: readonly Issue[] = [{ path: 'id', message: 'belongs to no order' }];

export const OTHER_TITLE: readonly Issue[] = [
  { path: 'product_title', message: 'differs from the order' },
];

/** Returns whether the title in a delivery is that of the provider's order, or one of them is missing. */
export function hasSameTitle(
  { payload }: StatedOrder,
  { product_title: title }: ComparedOrder,
): boolean {
  const stated = payload.product_title;
  return stated === undefined || title === undefined || stated === title;
}

/**
 * Returns the fields in which the order in a delivery differs from the provider's order: their names, without
 * values. A field that either of them does not have is not compared.
 */
export function findDisagreements(
  { payload, paidStatuses }: StatedOrder,
  order: ComparedOrder,
): readonly Issue[] {
  const differs = (field: string, isSame: (one: unknown, other: unknown) => boolean) => {
    const [one, other] = [
      payload[field],
      new Map<string, unknown>(Object.entries(order)).get(field),
    ];
    return one !== undefined && other !== undefined && !isSame(one, other);
  };
  const issues: Issue[] = [
    ...SAME.filter((field) => differs(field, Object.is)),
    ...(differs('value', isSameAmount) ? ['value'] : []),
  ].map((path) => ({ path, message: 'differs from the order' }));
  const isPaidNow = paidStatuses.some((paid) => paid === order.status);
  // This holds for every event: the name of an event is not signed.
  if (paidStatuses.some((paid) => paid === payload.status)) {
    const message = `is paid, but the status of the order is ${describeStatus(order.status)}`;
    return isPaidNow ? issues : [...issues, { path: 'status', message }];
  }
  const [stated = '', known] = [toSortable(payload.updated_at), toSortable(order.updated_at)];
  return known !== undefined && known < stated && !stated.startsWith(withoutZeros(known))
    ? [...issues, { path: 'updated_at', message: 'is later than in the order' }]
    : issues;
}

/** The provider may state the time of an order less finely than that of a delivery. */
function withoutZeros(time: string): string {
  return time.replace(/\.000$/, '');
}
