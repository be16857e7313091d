import type { Contract, Listening } from './contract.js';
import { makeFetch } from './fetch.js';

declare const Deno: {
  serve(
    options: { port: number; hostname: string },
    handler: (request: Request) => Promise<Response>,
  ): { addr: { port: number }; shutdown(): Promise<void> };
};

export async function serve(contract: Contract): Promise<Listening> {
  const server = Deno.serve({ port: 0, hostname: '127.0.0.1' }, makeFetch(contract));
  return { port: server.addr.port, close: () => server.shutdown() };
}
