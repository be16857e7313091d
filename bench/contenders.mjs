import { createHmac } from 'node:crypto';
import { orderBody } from './payload.mjs';

export const SECRET = 'an-account-secret-of-usual-length';
export const PATH = '/webhooks';
export const BODY = orderBody(1024);

/** A placeholder for the id of the delivery, which the load generator overwrites in each request. */
export const ID_PLACE = 'whl_000000000000';

export const ours = {
  'content-type': 'application/json',
  'x-service-event': 'order:paid',
  'x-service-webhook': ID_PLACE,
  'x-service-signature': createHmac('sha512', SECRET).update(BODY).digest('hex'),
};
const octokits = {
  'content-type': 'application/json',
  'x-github-event': 'push',
  'x-github-delivery': ID_PLACE,
  'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(BODY).digest('hex')}`,
};

/** The servers, with the headers of their requests, and a text that a successful answer contains. */
export const CONTENDERS = [
  contender('node:http, by hand', 'node-by-hand.mjs'),
  contender('node:http, careful by hand', 'node-careful.mjs'),
  contender('toNodeHandler()', 'node.mjs'),
  contender('octokit createNodeMiddleware()', 'octokit.mjs', octokits, 'ok'),
  contender('Express 5, express.raw() by hand', 'express-by-hand.mjs'),
  contender('toExpress() in Express 5', 'express.mjs'),
  contender('Fastify 5, by hand', 'fastify-by-hand.mjs'),
  contender('toFastify() in Fastify 5', 'fastify.mjs'),
];

/** The least ratios of requests a second between two servers. */
export const BARS = [
  { file: 'node.mjs', than: 'node-by-hand.mjs', atLeast: 0.9 },
  { file: 'express.mjs', than: 'express-by-hand.mjs', atLeast: 1 },
  { file: 'fastify.mjs', than: 'fastify-by-hand.mjs', atLeast: 0.9 },
  { file: 'node.mjs', than: 'octokit.mjs', atLeast: 1 },
];

/** The highest ratios of processor time for one delivery between two servers. */
export const COSTS = [
  { file: 'node.mjs', than: 'node-careful.mjs', atMost: 0.9 },
  { file: 'node.mjs', than: 'octokit.mjs', atMost: 1.5 },
  { file: 'express.mjs', than: 'express-by-hand.mjs', atMost: 1.05 },
  { file: 'fastify.mjs', than: 'fastify-by-hand.mjs', atMost: 2.2 },
];

function contender(name, file, headers = ours, answers = '"handled"') {
  return { name, file, headers, answers };
}
