import { type Context, Hono } from 'hono';
import type { Endpoint } from '../../api/endpoint.js';
import { endpoints } from '../../api/endpoints.js';
import { listQuery } from '../../api/parameters.js';
import type { AnswerFault } from '../fault.js';
import type { Markets } from '../markets.js';
import type { Market } from '../trade/market.js';
import type { Unknowns } from '../unknowns.js';
import { answer } from './answer.js';
import { ErrorAnswer, json } from './answers.js';
import { blacklist } from './blacklist.js';
import { readText } from './body.js';
import { categories } from './categories.js';
import { check, readBody, readForm } from './form.js';
import type { Call, Operations, Service } from './operations.js';
import { orders } from './orders.js';
import { payments } from './payments.js';
import { products } from './products.js';
import { limitRate } from './rate.js';
import { webhookEndpoints } from './webhook-endpoints.js';
import { webhookLogs } from './webhook-logs.js';

const service: Service = {
  products,
  categories,
  orders,
  blacklist,
  webhookEndpoints,
  webhookLogs,
  payments,
};

/** The largest body, in bytes. The specification does not show a limit. */
const LIMITS = { none: 1_048_576, tight: 65_536 };

/** Returns the routes of the service, one for each row of the endpoint table. */
export function serviceRoutes(markets: Markets): Hono {
  const app = new Hono();
  const announced = Object.entries(headersOf(markets.unknowns));
  for (const [group, rows] of Object.entries<Readonly<Record<string, Endpoint>>>(endpoints)) {
    for (const [name, row] of Object.entries(rows)) {
      const operations: Partial<Operations> = service[group as keyof Service];
      app.on(row.method, row.path, async (context) => {
        const response = await answer(context, markets, async (market) => {
          limitRate(market);
          strike(markets, market, `${group}.${name}`);
          if (row.method !== 'GET' && market.account.settings.read_only) throw new ErrorAnswer(403);
          return operate(context, market, row, operations);
        });
        for (const [name, value] of announced) response.headers.set(name, value);
        return response;
      });
    }
  }
  return app;
}

/** @throws {ErrorAnswer} The error of the fault that strikes this call, if any. */
function strike(markets: Markets, market: Market, operation: string): void {
  const fault: AnswerFault | undefined =
    market.faults.strike(operation) ?? markets.faults.strike(operation);
  if (!fault) return;
  const { status, seconds } = fault;
  const headers = seconds === undefined ? {} : { 'retry-after': String(seconds) };
  throw new ErrorAnswer(status, { headers });
}

async function operate(
  context: Context,
  market: Market,
  row: Endpoint,
  operations: Partial<Operations>,
): Promise<Response> {
  if (row.kind === 'list') {
    const [, query = ''] = context.req.url.split('?', 2);
    const { page, per_page } = check(listQuery, readForm(query));
    const found = operations.list?.(market, page, per_page);
    const total = String(found?.totalPages);
    return json(row.status, found?.items ?? [], { 'x-total-pages': total });
  }
  const call = await readCall(context, market, row);
  if (row.kind === 'delete') {
    if (!operations.delete?.(call)) throw new ErrorAnswer(404);
    const { newerProducts, variant } = market.unknowns;
    // For the older variant, the specification states the status.
    const isLenient =
      row.section === 'Products' && variant === 'newer' && newerProducts === 'lenient';
    return new Response(null, { status: isLenient ? 200 : row.status });
  }
  const record = operations[row.kind]?.(call);
  if (!record) throw new ErrorAnswer(404);
  return json(row.status, record);
}

async function readCall({ req }: Context, market: Market, row: Endpoint): Promise<Call> {
  const call = { market, id: req.param('id') ?? '', url: req.url };
  if (row.kind !== 'create' && row.kind !== 'update') return { ...call, sent: NOTHING };
  const body = await readText(req.raw, LIMITS[market.unknowns.limits]);
  return { ...call, sent: readBody(req.header('content-type'), body) };
}

const NOTHING = { fields: {}, isText: true };

/** Returns the headers about the version's deprecation, which the specification does not show. */
function headersOf({ deprecation }: Unknowns): Record<string, string> {
  if (deprecation === 'silent') return {};
  return { deprecation: '@1767225600', sunset: 'Thu, 31 Dec 2026 23:59:59 GMT' };
}
