import { eventSchemas } from '../../schemas/events.js';
import { isJsonObject, type JsonObject } from '../../schemas/values.js';
import { type ByVariant, type Endpoint, ERRORS, type Variant } from '../endpoint.js';
import { operations } from '../endpoints.js';
import { listQuery } from '../parameters.js';
import { describe } from './descriptions.js';
import { parametersToJsonSchema } from './json-schema.js';
import { anyOf, recordOf, recordSchemas, refer, referToRecord } from './records.js';

/** Options of {@link toOpenApi}. */
export interface OpenApiOptions {
  /**
   * Which shape products have. Default: either, because the specification does not say when each one applies.
   */
  variant?: Variant;
}

const DESCRIPTION = `A seller account on a digital-goods storefront, and the webhooks that it sends.

Lists are sent as \`name[index]\`, which OpenAPI cannot express. Give a generated client this \`bodySerializer\`:

\`\`\`ts
function bodySerializer(body: unknown): string {
  const toFields = (value: unknown, name: string): [string, string][] =>
    Array.isArray(value) && value.length === 0 ? [[\`\${name}[]\`, '']]
      : typeof value === 'object' && value !== null
        ? Object.entries(value).flatMap(([key, one]) => toFields(one, name ? \`\${name}[\${key}]\` : key))
        : value === undefined ? [] : [[name, String(value ?? '')]];
  return new URLSearchParams(toFields(body, '')).toString();
}
\`\`\``;

/** Returns the OpenAPI 3.1 document of the provider's service: every endpoint, and the webhooks. */
export function toOpenApi({ variant }: OpenApiOptions = {}): JsonObject {
  const variants: readonly Variant[] = variant ? [variant] : ['newer', 'older'];
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const [operation, row] of operations) {
    const path = row.path.replace(':id', '{id}');
    const errors = row.errors.map((status) => [status, refer('responses', ERRORS[status])]);
    paths[path] ??= {};
    paths[path][row.method.toLowerCase()] = {
      operationId: operation,
      summary: `${row.section}: ${row.kind}`,
      tags: [row.section],
      parameters: parametersOf(row),
      ...bodyOf(row, variants),
      responses: { [row.status]: successOf(row, variants), ...Object.fromEntries(errors) },
    };
  }
  const sections = new Set(operations.map(([, { section }]) => section));
  return {
    openapi: '3.1.1',
    info: {
      title: 'Digital goods storefront',
      version: 'v2',
      description: DESCRIPTION,
    },
    servers: [
      {
        url: '{base_url}',
        variables: {
          base_url: { default: 'https://storefront.example', description: 'HTTPS only.' },
        },
      },
    ],
    // Some generated clients send one credential under each scheme, and the last one wins.
    security: [{ basic: [] }, { bearer: [] }],
    tags: Array.from([...sections, 'Events'], (name) => ({
      name,
      description: `In the specification: ${name}.`,
    })),
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
      schemas: { ...recordSchemas(variants), ...ERROR_SCHEMAS },
    },
  };
}

/** Returns the values of the documented variants, without repetition. */
function each<T>(byVariant: ByVariant<T>, variants: readonly Variant[]): T[] {
  return [...new Set(variants.map((variant) => byVariant[variant]))];
}

function parametersOf({ kind, path }: Endpoint): JsonObject[] {
  if (path.includes(':id')) {
    const description = 'The id of the record.';
    return [{ name: 'id', in: 'path', description, required: true, schema: { type: 'string' } }];
  }
  const { properties } = kind === 'list' ? parametersToJsonSchema(listQuery) : {};
  return Object.entries(properties ?? {}).map(([name, schema]) => {
    const description =
      name === 'page' ? 'The number of the page.' : 'The number of records in a page.';
    return { name, in: 'query', description, schema };
  });
}

/** Returns the request body: a form whose arrays are `name[index]`. */
function bodyOf(row: Endpoint, variants: readonly Variant[]): JsonObject {
  if (!('sent' in row)) return {};
  const bodies = new Map(variants.map((variant) => [row.sent[variant], row.returned[variant]]));
  const schemas = Array.from(bodies, ([sent, returned]) =>
    describe(parametersToJsonSchema(sent), recordOf(returned)),
  );
  const names = schemas.flatMap(listsIn);
  const encoding = names.map((name) => [name, { style: 'deepObject', explode: true }]);
  return {
    requestBody: {
      ...(names.length > 0 && { description: 'A form. Its lists are sent as `name[index]`.' }),
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

function listsIn({ properties }: JsonObject): string[] {
  const isList = (schema: unknown) => isJsonObject(schema) && schema.type === 'array';
  return Object.entries(Object(properties)).flatMap(([name, one]) => (isList(one) ? [name] : []));
}

function successOf(row: Endpoint, variants: readonly Variant[]): JsonObject {
  if (!('returned' in row)) return { description: 'Deleted.' };
  const record = anyOf(each<unknown>(row.returned, variants).map(referToRecord));
  if (row.kind !== 'list') return { description: 'The record.', content: json(record) };
  return {
    description: 'A page of records. Older variant: sorted by creation date, newest first.',
    headers: {
      'X-Total-Pages': { description: 'The number of pages.', schema: { type: 'integer' } },
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

/** Returns the response of each error status, by name, with its schema. */
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

/** The headers of a webhook (specification: Events). */
const WEBHOOK_HEADERS = {
  'X-Service-Event': 'The event.',
  'X-Service-Signature': 'The HMAC-SHA512 of the body under the webhook secret, in hexadecimal.',
  'X-Service-Webhook': 'The id of the webhook log of this request.',
};

function webhookOf(event: string, schema: unknown): JsonObject {
  return {
    post: {
      operationId: event,
      summary: event,
      tags: ['Events'],
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
