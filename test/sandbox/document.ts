import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';

type Answers = (request: Request) => Promise<Response>;

interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly $ref?: string; readonly content?: object }>
  >;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Checks every answer of a sandbox against the document that it serves itself. */
export async function checking(answers: Answers): Promise<Answers> {
  const response = await answers(new Request('http://localhost/openapi.json'));
  const document = (await response.json()) as Document;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, 'document');
  const compiled = new Map<string, ValidateFunction>();

  function validatorOf(at: string): ValidateFunction {
    const found = compiled.get(at) ?? ajv.compile({ $ref: `document#${at}` });
    compiled.set(at, found);
    return found;
  }

  return async (request) => {
    const answer = await answers(request);
    const path = pathOf(document, new URL(request.url).pathname);
    const method = request.method.toLowerCase();
    const operation = document.paths[path]?.[method];
    // What is not in the document is answered 404, or is no endpoint at all.
    if (!operation) return answer;
    const documented = operation.responses[answer.status];
    expect(documented, `${method} ${path} answered ${answer.status}`).toBeDefined();
    const text = await answer.clone().text();
    const { $ref } = documented ?? {};
    const at = $ref?.slice(1) ?? `/paths/${pointer(path)}/${method}/responses/${answer.status}`;
    if ($ref === undefined && !documented?.content) {
      expect(text, `${method} ${path} has no body`).toBe('');
      return answer;
    }
    expect(answer.headers.get('content-type')).toBe('application/json');
    const validate = validatorOf(`${at}/content/application~1json/schema`);
    validate(JSON.parse(text));
    expect(validate.errors ?? [], `${method} ${path}: ${text}`).toEqual([]);
    return answer;
  };
}

/** The path of the document that a request is for; empty where there is none. */
function pathOf({ paths }: Document, pathname: string): string {
  const fits = (path: string) =>
    new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname);
  return Object.keys(paths).find(fits) ?? '';
}

function pointer(path: string): string {
  return path.replaceAll('~', '~0').replaceAll('/', '~1');
}
