import { UsageError } from '../errors/errors.js';
import { VERSION } from '../errors/log.js';
import { OptionChecks } from '../errors/option-checks.js';
import { didYouMean } from '../errors/text.js';
import { nameType } from '../runtime/bytes.js';
import { readPage, readRecord, toApiError } from './answer.js';
import { type Call, toCall } from './call.js';
import {
  type CallOptions,
  type ListOptions,
  OPTION_NAMES,
  type ReadOptions,
  type SendOptions,
} from './call-options.js';
import { type ClientSettings, readTerms } from './client-options.js';
import type { Endpoint, ParameterSchema } from './endpoint.js';
import { type Answer, exchange } from './exchange.js';
import { toForm } from './form.js';
import { toList } from './list.js';
import { listQuery } from './parameters.js';
import { findFaults } from './validation.js';

/** Makes the client's method for a row of the table. */
export function toMethod(operation: string, row: Endpoint, settings: ClientSettings) {
  const { variant } = settings;
  const call = toCall(operation, row.method);
  switch (row.kind) {
    case 'list':
      return (options: ListOptions = {}) =>
        toList(options.page ?? 1, async (page, onUnreadable) => {
          const path = row.path + toQuery(operation, page, options.perPage);
          const answer = await send(call, path, options);
          const schema = row.returned[variant];
          return readPage(call, answer, page, schema, { ...options, onUnreadable });
        });
    case 'get':
      return async (id: string, options: ReadOptions = {}) => {
        const answer = await send(call, withId(operation, row.path, id), options);
        return readRecord(call, answer, row.returned[variant], options);
      };
    case 'create':
      return async (parameters: object, options: SendOptions = {}) => {
        const form = readParameters(operation, row.sent[variant], parameters, options);
        const answer = await send(call, row.path, options, form);
        return readRecord(call, answer, row.returned[variant], options);
      };
    case 'update':
      return async (id: string, changes: object, options: SendOptions = {}) => {
        const schema = row.sent[variant];
        const form = readParameters(operation, schema, changes, options);
        const call = toCall(operation, row.method, form, namesIn(schema));
        const answer = await send(call, withId(operation, row.path, id), options, form);
        return readRecord(call, answer, row.returned[variant], options);
      };
    case 'delete':
      return async (id: string, options: CallOptions = {}) => {
        await send(call, withId(operation, row.path, id), options);
      };
  }

  async function send(
    call: Call,
    path: string,
    options: CallOptions,
    body?: string,
  ): Promise<Answer> {
    const checks = new OptionChecks(operation);
    checks.checkNames(options, OPTION_NAMES[row.kind]);
    const terms = readTerms(checks, options, settings);
    const { baseUrl, authorization, secrets, fetch } = settings;
    const headers = {
      accept: 'application/json',
      authorization,
      'user-agent': `storefront-webhooks/${VERSION}`,
      ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
    };
    const request = { ...call, url: baseUrl + path, headers, body };
    const answer = await exchange(request, { ...terms, fetch, signal: options.signal });
    const error = toApiError(call, answer, secrets, body);
    if (error) throw error;
    return answer;
  }
}

function toQuery(operation: string, page: number, perPage: number | undefined): string {
  const query = { page, ...(perPage === undefined ? {} : { per_page: perPage }) };
  const [fault] = findFaults(listQuery, query);
  if (fault !== undefined) {
    const message = `${operation}: ${fault.replace('per_page', 'perPage')}.`;
    throw new UsageError('option_invalid', message);
  }
  return `?${toForm(operation, query)}`;
}

function withId(operation: string, path: string, id: unknown): string {
  // A path with "." or ".." leads to another endpoint. A path cannot hold half a character.
  if (typeof id !== 'string' || ['', '.', '..'].includes(id) || /\p{Cs}/u.test(id)) {
    const what =
      typeof id !== 'string'
        ? nameType(id)
        : id === ''
          ? 'an empty one'
          : 'one that no path can hold';
    const message = `${operation} expects the id of a record but got ${what}.`;
    throw new UsageError('parameter_invalid', message);
  }
  return path.replace(':id', () => encodeURIComponent(id));
}

function readParameters(
  operation: string,
  schema: ParameterSchema,
  parameters: unknown,
  { extra = {} }: SendOptions,
): string {
  if (typeof parameters !== 'object' || parameters === null) {
    const message = `${operation} expects an object of parameters but got ${nameType(parameters)}.`;
    throw new UsageError('parameter_invalid', message);
  }
  const known = namesIn(schema);
  const unknown = Object.keys(parameters).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new UsageError(
      'parameter_invalid',
      `${operation}: there is no parameter ${unknown}. ${didYouMean(unknown, known)}` +
        `To send a parameter that the specification does not name, pass { extra: { ${unknown}: … } } as the last argument.`,
    );
  }
  return toForm(operation, { ...parameters, ...extra });
}

function namesIn(schema: ParameterSchema): string[] {
  return 'shape' in schema
    ? Object.keys(schema.shape)
    : schema._zod.def.options.flatMap((option) => namesIn(option));
}
