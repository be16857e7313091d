import { isJsonObject, type JsonObject } from '../../schemas/values.js';
import type { Unknowns } from '../unknowns.js';

/**
 * Returns the service's document, adapted to this deployment's behaviour at the places that the specification
 * does not show.
 */
export function asDeployed(document: JsonObject, unknowns: Unknowns): JsonObject {
  // A copy that allows plain HTTP in webhook URLs, for those on this machine.
  const text = JSON.stringify(document).replaceAll('"^https:"', '"^https?:"');
  const deployed: JsonObject = JSON.parse(text);
  if (unknowns.newerProducts === 'lenient' && unknowns.variant === 'newer') {
    const { responses } = find(deployed, 'paths', '/api/v2/products/{id}', 'delete');
    rename(responses, '204', '200');
    for (const schema of schemasOf(deployed, '/api/v2/products')) schema.required = ['title'];
  }
  for (const { properties } of schemasOf(deployed, '/api/v2/pay')) {
    rename(properties, 'confirmations', unknowns.confirmationsName);
  }
  return deployed;
}

/** Returns the schemas of what may be posted to a path. */
function schemasOf(document: JsonObject, path: string): JsonObject[] {
  const body = find(document, 'paths', path, 'post', 'requestBody', 'content');
  const { schema } = find(body, 'application/x-www-form-urlencoded');
  const { anyOf, oneOf } = Object(schema);
  return [anyOf ?? oneOf ?? schema].flat().filter(isJsonObject);
}

function find(object: JsonObject, ...names: readonly string[]): JsonObject {
  return names.reduce<JsonObject>((found, name) => {
    const next = found[name];
    if (!isJsonObject(next)) throw new Error(`The document has no ${name}.`);
    return next;
  }, object);
}

function rename(object: unknown, from: string, to: string): void {
  if (!isJsonObject(object) || from === to) return;
  object[to] = object[from];
  delete object[from];
}
