import type { ReceiverOptions } from './process/options.js';
import { readOptions } from './process/read-options.js';
import { Receiver } from './receiver.js';
import type { EventSchemas, Payloads } from './schemas/events.js';

type NoSchemas = Record<never, never>;

/**
 * Creates a receiver. Register its handlers with `.onPaid()` and `.on()`, then mount it with an adapter such as
 * `toExpress(receiver)`.
 *
 * @throws {UsageError} `secret_invalid` or `option_invalid`, with a message that says what to change.
 *
 * @example
 * const receiver = createReceiver({ secret: process.env.WEBHOOK_SECRET })
 *   .onPaid(async ({ payload: order }) => deliver(order));
 */
export function createReceiver<const Schemas extends EventSchemas = NoSchemas, Tx = unknown>(
  options: ReceiverOptions<Schemas, Tx>,
): Receiver<Payloads<Schemas>, Tx> {
  return new Receiver(readOptions(options));
}
