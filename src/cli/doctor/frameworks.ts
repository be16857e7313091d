import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isJsonObject } from '../../schemas/values.js';
import type { Place, Step } from './cause.js';
import { parseJson } from './undone.js';

/** Frameworks by the package of a project's dependencies. A framework that is built on another comes before it. */
const PACKAGES = {
  next: 'next',
  '@nestjs/core': 'nest',
  '@sveltejs/kit': 'sveltekit',
  fastify: 'fastify',
  '@hapi/hapi': 'hapi',
  koa: 'koa',
  hono: 'hono',
  elysia: 'elysia',
  express: 'express',
  wrangler: 'workers',
  '@types/aws-lambda': 'lambda',
} as const;

export type Framework = (typeof PACKAGES)[keyof typeof PACKAGES] | 'node';

/** The line that gives a receiver the bytes as they arrived. */
const MOUNTED: Readonly<Record<Framework, string>> = {
  express:
    "Mount the receiver above express.json() and similar parsers: app.post('/webhooks', toExpress(receiver)); app.use(express.json());",
  nest: "On Express, mount it before listen, which adds the body parser: nest.use('/webhooks', toExpress(receiver)); on Fastify: await nest.register(toFastify(receiver), { prefix: '/webhooks' });",
  fastify:
    "Register the plugin, which takes the raw body inside its prefix: app.register(toFastify(receiver), { prefix: '/webhooks' });",
  koa: "Mount the receiver above the body parser: new Router().post('/webhooks', toKoa(receiver));",
  hono: "Mount the receiver before any middleware that reads the body: new Hono().post('/webhooks', toHono(receiver));",
  elysia:
    "With Elysia 1.3 or later, give the route { parse: 'none' }: app.post('/webhooks', toElysia(receiver), { parse: 'none' });",
  next: 'In the App Router: export const POST = toNext(…). In the Pages Router, in the file itself: export const config = { api: { bodyParser: false } };',
  sveltekit:
    'Verify the bytes of the request, and not its json(): export const POST = ({ request }) => webhooks(request); with webhooks = toFetch(receiver).',
  hapi: "Take the raw payload: options: { payload: { parse: false, output: 'data' } }, and give it to receiver.receive().",
  workers:
    'Verify the bytes of the request, and not its json() or text(): export default toWorker(…);',
  lambda: 'Pass the event on unchanged: export const handler = toLambda(receiver);',
  node: 'Verify the bytes as they arrived, before any parser: createServer(toNodeHandler(receiver)), or receive() with the raw body.',
};

export const FRAMEWORKS = Object.keys(MOUNTED) as readonly Framework[];

const ELSEWHERE: Readonly<Record<Exclude<Place, 'parser'>, string>> = {
  transport:
    'The proxy, gateway, tunnel or queue before the receiver has to pass the body on byte for byte. If you saved the body by hand, save its bytes.',
  secret:
    'Copy the webhook secret from the settings of the account again, with nothing around it: createReceiver({ secret: process.env.WEBHOOK_SECRET }).',
  signing:
    'The signer has to send the HMAC-SHA512 of the body under the webhook secret, in hexadecimal. If one of your tests signs, use sign(body, secret).',
};

/** Returns what to change to prevent a fault, at the place that is nearest to the receiver. */
export function changeFor(steps: readonly Step[], framework: Framework): string {
  const last = steps.at(-1)?.place ?? 'transport';
  return last === 'parser' ? MOUNTED[framework] : ELSEWHERE[last];
}

/** Returns the framework in the nearest package.json of a folder. */
export function findFramework(folder: string): Framework {
  const file = join(folder, 'package.json');
  const parent = dirname(folder);
  if (!existsSync(file)) return parent === folder ? 'node' : findFramework(parent);
  const project = parseJson(readFileSync(file, 'utf8'));
  const { dependencies, devDependencies } = isJsonObject(project) ? project : {};
  const names = new Set([dependencies, devDependencies].filter(isJsonObject).flatMap(Object.keys));
  const found = Object.entries(PACKAGES).find(([name]) => names.has(name));
  return found?.[1] ?? 'node';
}
