import { startFaultyProxy } from '../support/faulty-proxy.js';
import type { Environment } from './children.js';
import type { TestedStore } from './stores.js';

/** A way to a store's server on which each trip takes long. */
export interface FarAway {
  readonly environment: Environment;
  close(): Promise<void>;
}

/**
 * Leads to the server of a store over a slow network.
 *
 * @param tripMs - How long a request and its answer take on the way, together.
 */
export async function farAway(store: TestedStore, tripMs: number): Promise<FarAway> {
  const environment = await store.fresh();
  const [server] = store.servers;
  if (!server) throw new Error(`${store.name} has no server.`);
  const proxy = await startFaultyProxy(server.port, { delayMs: tripMs / 2 });
  const url = new URL(environment[server.variable] ?? '');
  url.port = `${proxy.port}`;
  return {
    environment: { ...environment, [server.variable]: url.href },
    close: () => proxy.close(),
  };
}
