import { expect } from 'vitest';
import { readFields } from './form-fields.js';
import { openValidators, type Validators } from './validators.js';

type Answers = (request: Request) => Promise<Response>;

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: object;
  readonly responses: Readonly<
    Record<string, { readonly $ref?: string; readonly content?: object }>
  >;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** The served documents, so that each is compiled once. */
const served = new Map<string, { document: Document; validators: Validators }>();

function open(text: string) {
  const known = served.get(text);
  if (known) return known;
  const document: Document = JSON.parse(text);
  const opened = { document, validators: openValidators(document) };
  served.set(text, opened);
  return opened;
}

/** Two ways to call a sandbox. Both check each answer against the document that the sandbox serves. */
export interface Checked {
  /** Sends requests that may be invalid. */
  readonly raw: Answers;
  /** For a client. Its requests are checked as well. */
  readonly client: Answers;
}

/** Checks the requests to a sandbox and its responses with two validators. */
export async function checking(answers: Answers): Promise<Checked> {
  const response = await answers(new Request('http://localhost/openapi.json'));
  const { document, validators } = open(await response.text());

  async function checkRequest(request: Request, { at, operation }: Place): Promise<void> {
    const { search } = new URL(request.url);
    for (const [name, value] of Object.entries(readFields(search))) {
      const index = operation.parameters?.findIndex((one) => one.name === name) ?? -1;
      expect(index, `${at} has the parameter ${name}`).not.toBe(-1);
      check(`${at}/parameters/${index}/schema`, value, (sent) => Number(sent));
    }
    const text = await request.clone().text();
    if (!operation.requestBody) {
      expect(text, `${at} is sent no body`).toBe('');
      return;
    }
    const schema = `${at}/requestBody/content/application~1x-www-form-urlencoded/schema`;
    check(schema, readFields(text), (fields) => validators.coerce(schema, Object(fields)));
  }

  function check(pointer: string, sent: unknown, read = (value: unknown) => value): void {
    const value = read(sent);
    expect(validators.errorsOf(pointer, value), `${pointer}: ${JSON.stringify(value)}`).toEqual([]);
  }

  async function checkAnswer(answer: Response, { at, operation }: Place): Promise<void> {
    const documented = operation.responses[answer.status];
    expect(documented, `${at} answered ${answer.status}`).toBeDefined();
    const text = await answer.clone().text();
    const { $ref } = documented ?? {};
    if ($ref === undefined && !documented?.content) {
      expect(text, `${at} has no body`).toBe('');
      return;
    }
    expect(answer.headers.get('content-type')).toBe('application/json');
    const pointer = $ref?.slice(1) ?? `${at}/responses/${answer.status}`;
    check(`${pointer}/content/application~1json/schema`, JSON.parse(text));
  }

  const checked =
    (isClient: boolean): Answers =>
    async (request) => {
      const place = find(document, request);
      // A path that is not in the document returns 404 or is no endpoint at all.
      if (!place) return answers(request);
      const sent = request.clone();
      const answer = await answers(request);
      // The sandbox may reject a request that the client sends. A request that it accepts has to be documented.
      if (isClient && answer.ok) await checkRequest(sent, place);
      await checkAnswer(answer, place);
      return answer;
    };
  return { raw: checked(false), client: checked(true) };
}

interface Place {
  /** The location of the operation in the document. */
  readonly at: string;
  readonly operation: Operation;
}

function find({ paths }: Document, request: Request): Place | undefined {
  const { pathname } = new URL(request.url);
  const method = request.method.toLowerCase();
  const path = Object.keys(paths).find((path) =>
    new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
  );
  const operation = path === undefined ? undefined : paths[path]?.[method];
  if (path === undefined || !operation) return undefined;
  return { at: `/paths/${path.replaceAll('~', '~0').replaceAll('/', '~1')}/${method}`, operation };
}
