import type * as z from 'zod/mini';
import type { ResourceSchema } from '../schemas/resource.js';

/**
 * The two shapes of a product that the specification describes: `product_type` is text in the newer one, and
 * an integer in the older one. Everything else is the same in both.
 */
export type Variant = 'newer' | 'older';

/** A value for each variant. */
export type ByVariant<T> = Readonly<Record<Variant, T>>;

/** The schema of a request's parameters. */
export type ParameterSchema =
  | z.ZodMiniObject
  | z.ZodMiniDiscriminatedUnion<readonly z.ZodMiniObject[]>;

/** The client's error code for each error status of the specification. */
export const ERRORS = {
  400: 'request_invalid',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  406: 'not_acceptable',
  429: 'rate_limited',
  500: 'server_failed',
  503: 'unavailable',
} as const;

interface Row {
  /** The path, with `:id` in place of a record's id. */
  readonly path: `/api/v2/${string}`;
  /**
   * The status of a success. If the specification of the newer variant does not show one, the older variant's
   * status.
   */
  readonly status: 200 | 201 | 204;
  readonly errors: readonly (keyof typeof ERRORS)[];
  /** The heading in the specification, under Endpoints. */
  readonly section: string;
}

/** Returns a page of records. Its query is `listQuery`. */
export interface ListEndpoint extends Row {
  readonly kind: 'list';
  readonly method: 'GET';
  readonly returned: ByVariant<ResourceSchema<{ readonly id: string }>>;
}

export interface GetEndpoint extends Row {
  readonly kind: 'get';
  readonly method: 'GET';
  readonly returned: ByVariant<ResourceSchema<object>>;
}

/** Creates a record. The parameters are sent as a form. */
export interface CreateEndpoint extends Row {
  readonly kind: 'create';
  readonly method: 'POST';
  readonly sent: ByVariant<ParameterSchema>;
  readonly returned: ByVariant<ResourceSchema<object>>;
}

/** Changes a record. The parameters are sent as a form, and only they change. */
export interface UpdateEndpoint extends Row {
  readonly kind: 'update';
  readonly method: 'PUT';
  readonly sent: ByVariant<ParameterSchema>;
  readonly returned: ByVariant<ResourceSchema<object>>;
}

/** Deletes a record. The answer has no body. */
export interface DeleteEndpoint extends Row {
  readonly kind: 'delete';
  readonly method: 'DELETE';
}

/** An endpoint of the provider's service: a row of the table in `endpoints.ts`. */
export type Endpoint =
  | ListEndpoint
  | GetEndpoint
  | CreateEndpoint
  | UpdateEndpoint
  | DeleteEndpoint;

const COMMON = [401, 403, 406, 429, 500, 503] as const;

/** The properties that all endpoints of a kind share (specification: Rules for all endpoints, Errors). */
const KINDS = {
  list: { kind: 'list', method: 'GET', status: 200, errors: [400, ...COMMON] },
  get: { kind: 'get', method: 'GET', status: 200, errors: [404, ...COMMON] },
  create: { kind: 'create', method: 'POST', status: 201, errors: [400, ...COMMON] },
  update: { kind: 'update', method: 'PUT', status: 200, errors: [400, 404, ...COMMON] },
  delete: { kind: 'delete', method: 'DELETE', status: 204, errors: [404, ...COMMON] },
} as const;

type Path = Row['path'];

export function list<Returned>(path: Path, returned: Returned, section: string) {
  return { ...KINDS.list, path, returned, section };
}

export function get<Returned>(path: Path, returned: Returned, section: string) {
  return { ...KINDS.get, path, returned, section };
}

export function create<Sent, Returned>(
  path: Path,
  sent: Sent,
  returned: Returned,
  section: string,
) {
  return { ...KINDS.create, path, sent, returned, section };
}

export function update<Sent, Returned>(
  path: Path,
  sent: Sent,
  returned: Returned,
  section: string,
) {
  return { ...KINDS.update, path, sent, returned, section };
}

export function remove(path: Path, section: string) {
  return { ...KINDS.delete, path, section };
}

/** Returns a value that is the same in both variants. */
export function both<T>(schema: T): ByVariant<T> {
  return { newer: schema, older: schema };
}
