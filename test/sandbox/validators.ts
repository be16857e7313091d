import { dereference, type Schema, validate } from '@cfworker/json-schema';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** Two validators that know nothing of each other, over one OpenAPI document. */
export interface Validators {
  /** What is wrong with a value, by the schema at a JSON pointer of the document; empty where both take it. */
  errorsOf(pointer: string, value: unknown): unknown[];
  /** Text of a form as the values that the schema there asks for, as far as it can be. */
  coerce(pointer: string, fields: object): unknown;
}

export function openValidators(document: object): Validators {
  const strict = openAjv(document, {});
  const coercing = openAjv(document, { coerceTypes: true });
  // It marks the schemas of the document that it is given.
  const own: Schema = JSON.parse(JSON.stringify(document));
  const lookup = dereference(own);
  return {
    errorsOf(pointer, value) {
      const first = strict(pointer);
      first(value);
      const second = validate(value, at(own, pointer), '2020-12', lookup, false);
      return [...(first.errors ?? []), ...second.errors];
    },
    coerce(pointer, fields) {
      const value: unknown = JSON.parse(JSON.stringify(fields));
      coercing(pointer)(value);
      return value;
    },
  };
}

function openAjv(document: object, options: object): (pointer: string) => ValidateFunction {
  const ajv = new Ajv2020({ strict: false, allErrors: true, ...options });
  addFormats.default(ajv);
  ajv.addSchema(document, 'document');
  const compiled = new Map<string, ValidateFunction>();
  return (pointer) => {
    const found = compiled.get(pointer) ?? ajv.compile({ $ref: `document#${pointer}` });
    compiled.set(pointer, found);
    return found;
  };
}

function at(document: object, pointer: string): Schema {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<Schema>((found, part) => Object(found)[part], document);
}
