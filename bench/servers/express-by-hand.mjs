import { createServer } from 'node:http';
import express from 'express';
import { HANDLED, isGenuine, REJECTED } from './by-hand.mjs';
import { listen } from './listen.mjs';

const app = express();
app.post('/webhooks', express.raw({ type: () => true }), (request, response) => {
  if (isGenuine(request.body, request.get('x-service-signature'))) response.json(HANDLED);
  else response.status(401).json(REJECTED);
});

listen(createServer(app));
