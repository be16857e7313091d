import { createServer } from 'node:http';
import { Redis } from '@upstash/redis';
import { redisStore } from 'storefront-webhooks/redis';
import { expect, onTestFinished, test } from 'vitest';
import { serve } from '../../cli/command.js';
import { newDelivery } from './deliveries.js';

const terms = { owner: 'a', leaseMs: 1_000, keepMs: 1_000, maxCrashes: 5 };

/** A store on an Upstash that answers each command with an error, and the names of the commands. */
async function failing(error: string, options = {}) {
  const asked: string[] = [];
  const { url, server } = await serve(
    createServer(async (request, response) => {
      let text = '';
      for await (const piece of request) text += piece;
      const isPipeline = request.url?.endsWith('/pipeline');
      const commands: string[][] = isPipeline ? JSON.parse(text) : [JSON.parse(text)];
      asked.push(...commands.map(([name = '']) => name));
      const answers = commands.map(() => ({ error }));
      response.writeHead(isPipeline ? 200 : 400, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isPipeline ? answers : answers[0]));
    }),
  );
  onTestFinished(() => void server.close());
  const client = new Redis({ url: new URL(url).origin, token: 't', retry: false, ...options });
  return { store: redisStore(client), asked };
}

test.each([
  ['with the pipeline that is on by default', {}],
  ['without a pipeline', { enableAutoPipelining: false }],
])('a script that Upstash does not know is sent, %s', async (_, options) => {
  const { store, asked } = await failing('NOSCRIPT No matching script.', options);
  await expect(store.claim(newDelivery(), terms)).rejects.toThrow();
  expect(asked).toEqual(['evalsha', 'eval']);
});

test('an error of Upstash does not contain the command, and so no signature', async () => {
  const { store } = await failing('ERR max daily request limit', { enableAutoPipelining: false });
  const delivery = { ...newDelivery(), proof: 'the signature' };
  const error = await store.claim(delivery, terms).catch((thrown) => thrown);
  expect(error).toMatchObject({ message: expect.stringContaining('max daily request limit') });
  expect(`${error.message} ${error.stack}`).not.toMatch(/command was|the signature/);
});
