import { toWorker } from 'storefront-webhooks/workers';
import { makeContract } from './contract.js';

interface Env {
  readonly SECRET: string;
}

const makeHere = ({ SECRET }: Env) => makeContract((line) => console.log(line), SECRET);
const webhooks = toWorker((env: Env) => makeHere(env).receiver);
const toDown = toWorker((env: Env) => makeHere(env).down);
const toGoods = toWorker((env: Env) => makeHere(env).goods);
let lazy: ReturnType<typeof makeContract>['lazy'] | undefined;
const toLazy = toWorker((env: Env) => {
  lazy ??= makeHere(env).lazy;
  return lazy();
});

export default {
  async fetch(...args: Parameters<typeof webhooks.fetch>): Promise<Response> {
    const [request] = args;
    const { pathname } = new URL(request.url);
    if (pathname === '/webhooks') return webhooks.fetch(...args);
    if (pathname === '/lazy') return toLazy.fetch(...args);
    if (pathname === '/down') return toDown.fetch(...args);
    if (pathname === '/goods') return toGoods.fetch(...args);
    const body = await request.json();
    return pathname === '/parsed' ? webhooks.fetch(...args) : Response.json(body);
  },
};
