import { createServer } from 'node:http';
import { createReceiver, UsageError } from 'storefront-webhooks';
import { toFetch } from 'storefront-webhooks/fetch';
import { toNodeHandler } from 'storefront-webhooks/node';
import { replay } from 'storefront-webhooks/testing';

const secret = 'a secret for tests';
const handled = [];
const make = () =>
  createReceiver({ secret }).on('order:paid', ({ payload }) => {
    handled.push(payload.id);
  });
const answer = async (target, options) => {
  const { status, outcome } = await replay(target, 'order:paid', { secret, ...options });
  return `${status} ${outcome}`;
};

const server = createServer(toNodeHandler(make()));
server.listen(0, '127.0.0.1', async () => {
  const answers = {
    node: await answer(server),
    nodeForged: await answer(server, { secret: 'another secret' }),
    fetch: await answer(toFetch(make())),
    fetchForged: await answer(toFetch(make()), { corrupt: true }),
  };
  server.close();
  const error = await replay(make(), 'order:paid', { duplicate: 0 }).catch((thrown) => thrown);
  const isSameClass = error instanceof UsageError;
  console.log(JSON.stringify({ ...answers, handled: handled.length, isSameClass }));
});
