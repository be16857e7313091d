import { type StoredDelivery, UsageError } from 'storefront-webhooks';

/** Fields of a delivery that a condition can name. */
const FIELDS = {
  key: ({ key }) => key,
  id: ({ id }) => id,
  event: ({ event }) => event,
  scope: ({ scope }) => scope,
  order: ({ orderId = '' }) => orderId,
  // The name in the lines of JSON.
  orderId: ({ orderId = '' }) => orderId,
  email: ({ email = '' }) => email,
  error: ({ error = '' }) => error,
  attempts: ({ attempts }) => String(attempts),
  interrupted: ({ interrupted }) => String(interrupted),
} satisfies Record<string, (delivery: StoredDelivery) => string>;

/**
 * Returns a filter for deliveries that match all conditions: `field=value` is equal, `field~text` contains the text.
 *
 * @throws {UsageError} If a condition is not valid.
 */
export function toFilter(conditions: readonly string[]): (delivery: StoredDelivery) => boolean {
  const tests = conditions.map(toTest);
  return (delivery) => tests.every((test) => test(delivery));
}

function toTest(condition: string): (delivery: StoredDelivery) => boolean {
  const [, name, sign, value = ''] = /^(\w+)([=~])(.*)$/s.exec(condition) ?? [];
  const [, read] = Object.entries(FIELDS).find(([field]) => field === name) ?? [];
  if (!read) {
    throw new UsageError(
      'option_invalid',
      `--where takes field=value or field~text, and not ${condition}. The fields are ${Object.keys(FIELDS).join(', ')}.`,
    );
  }
  return (delivery) => (sign === '=' ? read(delivery) === value : read(delivery).includes(value));
}
