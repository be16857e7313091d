import { toOpenApi } from '../../api/openapi/document.js';
import { parametersToJsonSchema } from '../../api/openapi/json-schema.js';
import { isJsonObject, type JsonObject } from '../../schemas/values.js';
import type { Unknowns } from '../unknowns.js';
import { asDeployed } from './deployed.js';
import type { ControlOperation } from './operation.js';
import { controlOperations, ORDER } from './operations.js';

const TAG = 'Sandbox';

const documents = new Map<string, JsonObject>();

/**
 * Returns the OpenAPI document of the sandbox: the service, and the operations that only a sandbox has. Each
 * document is built once.
 */
export function toDocument(unknowns: Unknowns): JsonObject {
  const { variant, newerProducts, confirmationsName } = unknowns;
  const key = [variant, newerProducts, confirmationsName].join();
  const made = documents.get(key) ?? makeDocument(unknowns);
  documents.set(key, made);
  return made;
}

function makeDocument(unknowns: Unknowns): JsonObject {
  const document = asDeployed(toOpenApi({ variant: unknowns.variant }), unknowns);
  const { paths, tags } = document;
  const own: Record<string, JsonObject> = {};
  for (const [id, operation] of Object.entries(controlOperations)) {
    const path = operation.path.replace(':id', '{id}');
    own[path] = { ...own[path], [operation.method.toLowerCase()]: describe(id, operation) };
  }
  return {
    ...document,
    servers: [{ url: '/', description: 'This sandbox.' }],
    tags: [
      ...(Array.isArray(tags) ? tags : []),
      { name: TAG, description: 'Operations that only a sandbox has.' },
    ],
    paths: { ...(isJsonObject(paths) ? paths : {}), ...own },
  };
}

function describe(id: string, { path, summary, status, returned, sent, method }: ControlOperation) {
  const hasId = path.includes(':id');
  const isRead = method === 'GET';
  const schema = parametersToJsonSchema(sent);
  const error = (name: string) => ({ $ref: `#/components/responses/${name}` });
  return {
    operationId: id,
    summary,
    tags: [TAG],
    parameters: hasId ? [ID] : [],
    ...(isRead || method === 'DELETE' ? {} : { requestBody: bodyOf(schema) }),
    responses: {
      [status]: returned
        ? { description: 'Done.', content: { 'application/json': { schema: returned } } }
        : { description: 'Done.' },
      ...(isRead ? {} : { 400: error('request_invalid') }),
      401: error('unauthenticated'),
      ...(hasId || returned === ORDER ? { 404: error('not_found') } : {}),
      406: error('not_acceptable'),
    },
  };
}

const ID = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };

function bodyOf(schema: JsonObject): JsonObject {
  const content = { schema };
  return {
    content: { 'application/json': content, 'application/x-www-form-urlencoded': content },
  };
}
