import { type Contract, type Listening, makeContract } from './apps/contract.js';
import * as express from './apps/express.js';
import * as express4 from './apps/express4.js';
import * as fastify from './apps/fastify.js';
import * as fetch from './apps/fetch.js';
import * as hono from './apps/hono.js';
import * as koa from './apps/koa.js';
import * as koa2 from './apps/koa2.js';
import * as lambda from './apps/lambda.js';
import * as nitro from './apps/nitro.js';
import * as node from './apps/node.js';
import { adapterContract, type Mounted } from './contract.js';

/** In this process. */
function here(serve: (contract: Contract) => Promise<Listening>) {
  return async (): Promise<Mounted> => {
    const lines: string[] = [];
    const { port, close } = await serve(makeContract((line) => lines.push(line)));
    return { origin: `http://127.0.0.1:${port}`, output: () => lines.join('\n'), stop: close };
  };
}

adapterContract('toExpress in Express 5', here(express.serve), {
  parsed: /above app\.use\(express\.json/,
});
adapterContract('toExpress in Express 4', here(express4.serve), {
  parsed: /above app\.use\(express\.json/,
});
adapterContract('toNodeHandler', here(node.serve), { parsed: /before anything reads the request/ });
adapterContract('toKoa in Koa 3', here(koa.serve), { parsed: /above app\.use\(bodyParser/ });
adapterContract('toKoa in Koa 2', here(koa2.serve), { parsed: /above app\.use\(bodyParser/ });
adapterContract('toFastify', here(fastify.serve), { parsed: /preParsing/ });
adapterContract('toHono', here(hono.serve), { parsed: /above every middleware/ });
adapterContract('toFetch', here(fetch.serve), { parsed: /before anything calls request\.json/ });
adapterContract('toNodeHandler in Nitro', here(nitro.serve), {
  parsed: /before anything reads the request/,
});
const whole = { parsed: 'cannot happen', buffers: true } as const;
adapterContract('toLambda, payload format 2.0', here(lambda.serve), whole);
adapterContract('toLambda, payload format 1.0', here(lambda.serveV1), whole);
