import type * as full from './server-drain.js';

// On Workers, no server is stopped.
export { Load } from './load.js';

export const isServer: typeof full.isServer = (_server): _server is full.ClosableServer => false;

export const drain: typeof full.drain = async () => {};
