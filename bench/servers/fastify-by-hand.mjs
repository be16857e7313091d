import fastify from 'fastify';
import { HANDLED, isGenuine, REJECTED } from './by-hand.mjs';
import { listen } from './listen.mjs';

const app = fastify();
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
app.post('/webhooks', (request, reply) => {
  if (isGenuine(request.body, request.headers['x-service-signature'])) reply.send(HANDLED);
  else reply.code(401).send(REJECTED);
});

await app.ready();
listen(app.server);
