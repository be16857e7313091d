// Delivers through the oldest version of each framework, and traces it with the oldest API of OpenTelemetry.
import { createServer } from 'node:http';
import express from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import Database from 'libsql';
import { createReceiver } from 'storefront-webhooks';
import { toExpress } from 'storefront-webhooks/express';
import { toFastify } from 'storefront-webhooks/fastify';
import { toHono } from 'storefront-webhooks/hono';
import { toKoa } from 'storefront-webhooks/koa';
import { openTelemetry } from 'storefront-webhooks/opentelemetry';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import { replay } from 'storefront-webhooks/testing';

const secret = 'a secret for tests';
const make = () => {
  const store = sqliteStore(new Database(':memory:'));
  return createReceiver({ secret, store, telemetry: openTelemetry({ store }) }).onPaid(() => {});
};
const url = (server) => `http://127.0.0.1:${server.address().port}/`;
const listen = async (listener) => {
  const server = createServer(listener);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return url(server);
};

const fastify = Fastify();
fastify.register(toFastify(make()));
await fastify.listen({ port: 0, host: '127.0.0.1' });

const hono = new Hono();
hono.post('/*', toHono(make()));

const targets = {
  express: await listen(express().post('/', toExpress(make()))),
  fastify: url(fastify.server),
  hono: (request) => hono.fetch(request),
  koa: await listen(new Koa().use(toKoa(make())).callback()),
};
const answers = {};
for (const [name, target] of Object.entries(targets)) {
  answers[name] = [];
  for (const one of [secret, secret, 'another secret']) {
    const { status, outcome } = await replay(target, 'order:paid', { secret: one });
    answers[name].push(`${status} ${outcome}`);
  }
}
console.log(JSON.stringify(answers));
process.exit();
