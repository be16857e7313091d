import { createReceiver } from 'storefront-webhooks';
import { toWorker } from 'storefront-webhooks/workers';

interface Env {
  readonly SECRET: string;
}

/** A Worker whose work ends when its sender hangs up, and whose handler hangs when it first runs. */
let runs = 0;
const webhooks = toWorker(({ SECRET: secret }: Env) =>
  createReceiver({ secret }).on('order:paid', async () => {
    runs += 1;
    console.log(`run ${runs}`);
    if (runs === 1) await new Promise(() => {});
  }),
);

export default {
  fetch: (request: Request, env: Env) => webhooks.fetch(request, env, { waitUntil() {} }),
};
