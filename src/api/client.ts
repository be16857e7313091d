import type * as z from 'zod/mini';
import type { HostedPayment, Payment, WhiteLabelPayment } from '../schemas/payment.js';
import type { InferOutput, StandardSchema } from '../schemas/standard-schema.js';
import type { CallOptions, ListOptions, ReadOptions, SendOptions } from './call-options.js';
import { type ClientOptions, readClientOptions } from './client-options.js';
import type { ByVariant, Variant } from './endpoint.js';
import { type endpoints, operations } from './endpoints.js';
import type { List } from './list.js';
import { toMethod } from './methods.js';
import type { newHostedPayment, newPayment, newWhiteLabelPayment } from './parameters.js';

/** The type that the method of a row of the table returns. */
type Returned<Row, V extends Variant> = Row extends { returned: ByVariant<StandardSchema> }
  ? InferOutput<Row['returned'][V]>
  : void;

/** The type of the parameters that a row of the table is sent. */
type Sent<Row, V extends Variant> = Row extends { sent: ByVariant<z.ZodMiniType> }
  ? Commented<z.input<Row['sent'][V]>, Returned<Row, V>>
  : never;

/** Parameters with the doc comments of a record's fields of the same names. */
type Commented<Parameters, Of> = Parameters &
  Comments<Of, keyof Of & keyof Parameters> extends infer Both
  ? { [Name in keyof Both]: Both[Name] }
  : never;

// An intersection with `unknown` leaves a type as it is.
type Comments<Of, Names extends keyof Of> = { [Name in Names]?: unknown };

/** Creates a payment. The type of the payment follows from its parameters. */
interface CreatePayment {
  (parameters: z.input<typeof newHostedPayment>, options?: SendOptions): Promise<HostedPayment>;
  (
    parameters: z.input<typeof newWhiteLabelPayment>,
    options?: SendOptions,
  ): Promise<WhiteLabelPayment>;
  (parameters: z.input<typeof newPayment>, options?: SendOptions): Promise<Payment>;
}

/** The type of the client's method for a row of the table. */
type Method<Row, V extends Variant> = Row extends { kind: 'list' }
  ? (options?: ListOptions) => List<Returned<Row, V>>
  : Row extends { kind: 'get' }
    ? (id: string, options?: ReadOptions) => Promise<Returned<Row, V>>
    : Row extends { sent: ByVariant<typeof newPayment> }
      ? CreatePayment
      : Row extends { kind: 'create' }
        ? (parameters: Sent<Row, V>, options?: SendOptions) => Promise<Returned<Row, V>>
        : Row extends { kind: 'update' }
          ? (id: string, changes: Sent<Row, V>, options?: SendOptions) => Promise<Returned<Row, V>>
          : (id: string, options?: CallOptions) => Promise<void>;

/** A client of the provider's service, with a method for each endpoint (specification: Endpoints). */
export type Client<V extends Variant = 'newer'> = {
  readonly [Group in keyof typeof endpoints]: {
    readonly [Name in keyof (typeof endpoints)[Group]]: Method<(typeof endpoints)[Group][Name], V>;
  };
};

/**
 * Creates a client of the provider's service.
 *
 * Each method rejects with an {@link ApiError} if the provider rejects the call or cannot be reached, and
 * with a `UsageError` (`parameter_invalid`, `option_invalid`) for parameters and options that cannot be sent.
 *
 * @throws {UsageError} `option_invalid`
 *
 * @example
 * const client = createClient({
 *   baseUrl: 'https://shop.example',
 *   auth: { accessToken: process.env.ACCESS_TOKEN },
 * });
 * for await (const order of client.orders.list()) console.log(order.id);
 */
export function createClient<V extends Variant = 'newer'>(options: ClientOptions<V>): Client<V> {
  const settings = readClientOptions(options);
  const client: Record<string, Record<string, unknown>> = {};
  for (const [operation, row] of operations) {
    const [group = '', name = ''] = operation.split('.');
    client[group] ??= {};
    client[group][name] = toMethod(operation, row, settings);
  }
  // The type `Client` is derived from the same table.
  return client as Client<V>;
}
