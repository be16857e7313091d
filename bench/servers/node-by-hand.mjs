import { createServer } from 'node:http';
import { HANDLED, isGenuine, REJECTED } from './by-hand.mjs';
import { listen } from './listen.mjs';

listen(
  createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const genuine = isGenuine(Buffer.concat(chunks), request.headers['x-service-signature']);
      const answer = JSON.stringify(genuine ? HANDLED : REJECTED);
      response.writeHead(genuine ? 200 : 401, {
        'content-type': 'application/json; charset=utf-8',
        'content-length': Buffer.byteLength(answer),
      });
      response.end(answer);
    });
  }),
);
