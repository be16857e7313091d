import { dereference, type Schema, validate } from '@cfworker/json-schema';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** Two independent validators for one OpenAPI document. */
export interface Validators {
  /** Returns the errors of a value by the schema at a JSON pointer of the document; empty if both accept it. */
  errorsOf(pointer: string, value: unknown): unknown[];
  /** Converts the texts of a form to the types of the schema, as far as possible. */
  coerce(pointer: string, fields: object): unknown;
}

export function openValidators(document: object): Validators {
  const strict = openAjv(document, {});
  const coercing = openAjv(document, { coerceTypes: true });
  // The validator adds marks to the schemas that it gets.
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
