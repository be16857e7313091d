import type { Contract, Listening } from './contract.js';
import { makeFetch } from './fetch.js';

declare const Bun: {
  serve(options: {
    port: number;
    hostname: string;
    fetch: (request: Request) => Promise<Response>;
  }): { port: number; stop(): Promise<void> };
};

export async function serve(contract: Contract): Promise<Listening> {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: makeFetch(contract) });
  return { port: server.port, close: () => server.stop() };
}
