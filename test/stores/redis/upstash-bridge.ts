import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Redis } from 'ioredis';

/** Serves Redis over HTTP as Upstash does: a command as a JSON array to `/`, several to `/pipeline`. */
export async function startBridge(redisUrl: string) {
  const redis = new Redis(redisUrl);
  redis.on('error', () => {});

  const answer = async ([name = '', ...args]: string[], encode: (reply: unknown) => unknown) => {
    try {
      return { result: encode(await redis.call(name, args)) };
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  };
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request));
    const encode = request.headers['upstash-encoding'] === 'base64' ? encodeReply : same;
    const reply = request.url?.endsWith('/pipeline')
      ? await Promise.all(body.map((command: string[]) => answer(command, encode)))
      : await answer(body, encode);
    response.statusCode = 'error' in reply ? 400 : 200;
    response.setHeader('content-type', 'application/json').end(JSON.stringify(reply));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      redis.disconnect();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const same = (reply: unknown) => reply;

function encodeReply(reply: unknown): unknown {
  if (Array.isArray(reply)) return reply.map(encodeReply);
  return typeof reply === 'string' && reply !== 'OK'
    ? Buffer.from(reply).toString('base64')
    : reply;
}
