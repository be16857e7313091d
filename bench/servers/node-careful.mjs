import { createServer } from 'node:http';
import getRawBody from 'raw-body';
import { carefulByHand } from '../careful.mjs';
import { listen } from './listen.mjs';

const receive = carefulByHand(process.env.WEBHOOK_SECRET, async () => {});
const MAX_BYTES = 1024 * 1024;
const BODY_MS = 10_000;

listen(
  createServer(async (request, response) => {
    const late = setTimeout(() => request.destroy(), BODY_MS);
    try {
      const { method, headers } = request;
      const length = headers['content-length'];
      const body = await getRawBody(request, { length, limit: MAX_BYTES });
      const answer = await receive({ method, headers, body });
      response.writeHead(answer.status, {
        ...answer.headers,
        'content-length': Buffer.byteLength(answer.body),
      });
      response.end(answer.body);
    } catch (error) {
      response.writeHead(error.status ?? 400).end();
    } finally {
      clearTimeout(late);
    }
  }),
);
