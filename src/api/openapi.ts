import { blacklistEntrySchema } from '../schemas/blacklist-entry.js';
import { categorySchema } from '../schemas/category.js';
import { eventSchemas } from '../schemas/events.js';
import { fileSchema } from '../schemas/file.js';
import type { JsonObject } from '../schemas/json.js';
import { orderSchema } from '../schemas/order.js';
import { hostedPaymentSchema, paymentSchema, whiteLabelPaymentSchema } from '../schemas/payment.js';
import { newerProductSchema, olderProductSchema } from '../schemas/product.js';
import { webhookEndpointSchema } from '../schemas/webhook-endpoint.js';
import { webhookLogSchema } from '../schemas/webhook-log.js';
import { type ByVariant, type Endpoint, ERRORS, type Variant } from './endpoint.js';
import { endpoints } from './endpoints.js';
import { type JsonSchema, parametersToJsonSchema, recordsToJsonSchemas } from './json-schema.js';
import { listQuery } from './parameters.js';

/** What {@link toOpenApi} takes. */
export interface OpenApiOptions {
  /** Which shape products have. Default: either, because the specification does not show which one is when. */
  variant?: Variant;
}

/** The OpenAPI 3.1 document of the provider's service: every endpoint, and the webhooks. */
export function toOpenApi({ variant }: OpenApiOptions = {}): JsonObject {
  const variants: readonly Variant[] = variant ? [variant] : ['newer', 'older'];
  const paths: Record<string, Record<string, JsonObject>> = {};
  const sections = new Set<string>();
  for (const [group, rows] of Object.entries<Readonly<Record<string, Endpoint>>>(endpoints)) {
    for (const [name, row] of Object.entries(rows)) {
      sections.add(row.section);
      const path = row.path.replace(':id', '{id}');
      paths[path] ??= {};
      paths[path][row.method.toLowerCase()] = {
        operationId: `${group}.${name}`,
        summary: `${row.section}: ${name}`,
        tags: [row.section],
        parameters: parametersOf(row),
        ...bodyOf(row, variants),
        responses: {
          [row.status]: successOf(row, variants),
          ...Object.fromEntries(
            row.errors.map((status) => [status, refer('responses', ERRORS[status])]),
          ),
        },
      };
    }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Digital goods storefront',
      version: 'v2',
      description:
        'A seller account on a digital-goods storefront, and the webhooks that it sends.',
    },
    servers: [
      {
        url: '{base_url}',
        variables: {
          base_url: { default: 'https://storefront.example', description: 'HTTPS only.' },
        },
      },
    ],
    security: [{ bearer: [] }, { basic: [] }],
    tags: [...sections, WEBHOOKS].map((name) => ({ name })),
    paths,
    webhooks: Object.fromEntries(
      Object.entries(eventSchemas).map(([event, schema]) => [event, webhookOf(event, schema)]),
    ),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An access token (newer variant).' },
        basic: {
          type: 'http',
          scheme: 'basic',
          description: 'The email and the API key of the account (older variant).',
        },
      },
      responses: errorResponses(),
      schemas: { ...recordsToJsonSchemas(RECORDS), ...ERROR_SCHEMAS },
    },
  };
}

const RECORDS = {
  NewerProduct: newerProductSchema,
  OlderProduct: olderProductSchema,
  Category: categorySchema,
  StoredFile: fileSchema,
  Order: orderSchema,
  BlacklistEntry: blacklistEntrySchema,
  WebhookEndpoint: webhookEndpointSchema,
  WebhookLog: webhookLogSchema,
  HostedPayment: hostedPaymentSchema,
  WhiteLabelPayment: whiteLabelPaymentSchema,
};

const NAMES = new Map<unknown, string>(
  Object.entries(RECORDS).map(([name, schema]) => [schema, name]),
);

function refer(kind: 'schemas' | 'responses', name: string): JsonObject {
  return { $ref: `#/components/${kind}/${name}` };
}

function referToRecord(schema: unknown): JsonObject {
  if (schema === paymentSchema) {
    return anyOf([hostedPaymentSchema, whiteLabelPaymentSchema].map(referToRecord));
  }
  const name = NAMES.get(schema);
  return name === undefined ? { type: 'object' } : refer('schemas', name);
}

function anyOf(schemas: readonly JsonObject[]): JsonObject {
  const [schema = {}, ...others] = schemas;
  return others.length === 0 ? schema : { anyOf: schemas };
}

/** What differs in the variants that are documented, each once. */
function each<T>(byVariant: ByVariant<T>, variants: readonly Variant[]): T[] {
  return [...new Set(variants.map((variant) => byVariant[variant]))];
}

function parametersOf({ kind, path }: Endpoint): JsonObject[] {
  if (path.includes(':id')) {
    return [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }];
  }
  const { properties } = kind === 'list' ? parametersToJsonSchema(listQuery) : {};
  return Object.entries(properties ?? {}).map(([name, schema]) => ({ name, in: 'query', schema }));
}

/** What is sent, as a form whose arrays are `name[index]`. */
function bodyOf(row: Endpoint, variants: readonly Variant[]): JsonObject {
  if (!('sent' in row)) return {};
  const schemas = each(row.sent, variants).map(parametersToJsonSchema);
  const names = schemas.flatMap(listsIn);
  const encoding = names.map((name) => [name, { style: 'deepObject', explode: true }]);
  return {
    requestBody: {
      required: true,
      content: {
        'application/x-www-form-urlencoded': {
          schema: anyOf(schemas),
          encoding: Object.fromEntries(encoding),
        },
      },
    },
  };
}

function listsIn({ properties = {} }: JsonSchema): string[] {
  return Object.entries(properties).flatMap(([name, { type }]) => (type === 'array' ? [name] : []));
}

function successOf(row: Endpoint, variants: readonly Variant[]): JsonObject {
  if (!('returned' in row)) return { description: 'Deleted.' };
  const record = anyOf(each<unknown>(row.returned, variants).map(referToRecord));
  if (row.kind !== 'list') return { description: 'The record.', content: json(record) };
  return {
    description: 'A page of records. Older variant: sorted by creation date, newest first.',
    headers: {
      'X-Total-Pages': { description: 'How many pages there are.', schema: { type: 'integer' } },
    },
    content: json({ type: 'array', items: record }),
  };
}

function json(schema: JsonObject): JsonObject {
  return { 'application/json': { schema } };
}

const DESCRIPTIONS: Readonly<Record<(typeof ERRORS)[keyof typeof ERRORS], string>> = {
  request_invalid: 'Bad request, invalid parameters.',
  unauthenticated: 'Unable to authenticate.',
  forbidden: 'Request not allowed.',
  not_found: 'Resource not found.',
  not_acceptable: 'A format other than JSON was requested.',
  rate_limited: 'Rate limit reached.',
  server_failed: 'Server problem, try again later.',
  unavailable: 'Temporarily offline for maintenance.',
};

/** The error of each status by name, and what its body holds. */
function errorResponses(): JsonObject {
  const responses = Object.entries(ERRORS).map(([status, name]) => {
    const schema = refer('schemas', status === '400' ? 'ValidationError' : 'Error');
    return [name, { description: DESCRIPTIONS[name], content: json(schema) }];
  });
  return Object.fromEntries(responses);
}

const ERROR_SCHEMAS = {
  Error: {
    type: 'object',
    properties: { message: { type: 'string' } },
    required: ['message'],
  },
  ValidationError: {
    type: 'object',
    properties: {
      message: { type: 'string' },
      errors: {
        type: 'array',
        items: { type: 'string' },
        description: 'One for each failed check.',
      },
    },
    required: ['message', 'errors'],
  },
};

/** The headers of a webhook, signed ones and others (specification: Events). */
const WEBHOOK_HEADERS = {
  'X-Service-Event': 'The event.',
  'X-Service-Signature': 'The HMAC-SHA512 of the body by the webhook secret, in hexadecimal.',
  'X-Service-Webhook': 'The id of the webhook log of this request.',
};

function webhookOf(event: string, schema: unknown): JsonObject {
  return {
    post: {
      operationId: event,
      summary: event,
      tags: [WEBHOOKS],
      security: [],
      parameters: Object.entries(WEBHOOK_HEADERS).map(([name, description]) => ({
        name,
        in: 'header',
        description,
        required: true,
        schema: { type: 'string' },
      })),
      requestBody: { required: true, content: json(referToRecord(schema)) },
      responses: { 200: { description: 'Handled.' } },
    },
  };
}

const WEBHOOKS = 'Webhooks';
