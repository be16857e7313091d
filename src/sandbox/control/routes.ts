import { Hono } from 'hono';
import type { Markets } from '../markets.js';
import { answer } from '../service/answer.js';
import { json } from '../service/answers.js';
import { readText } from '../service/body.js';
import { readBody, readForm } from '../service/form.js';
import { toDocument } from './document.js';
import { controlOperations } from './operations.js';

const MAX_BODY = 1_048_576;

/** Returns the routes under `/sandbox`, which only a sandbox has, and the route of the OpenAPI document. */
export function controlRoutes(markets: Markets): Hono {
  const app = new Hono();
  for (const { method, path, status, run } of Object.values(controlOperations)) {
    app.on(method, path, (context) =>
      answer(context, markets, async (market) => {
        const { req } = context;
        const sent =
          method === 'GET'
            ? readForm('')
            : readBody(req.header('content-type'), await readText(req.raw, MAX_BODY));
        const found = await run(market, req.param('id') ?? '', sent);
        return found ? json(status, found) : new Response(null, { status });
      }),
    );
  }
  app.get('/openapi.json', () => json(200, toDocument(markets.unknowns)));
  return app;
}
