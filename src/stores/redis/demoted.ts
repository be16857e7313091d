import { hasMethods } from '../platform.js';
import { optionOf } from '../size-limits.js';
import {
  type IoRedisClient,
  type IoRedisConnection,
  isPool,
  type NodeRedisClient,
  type ScriptCalls,
} from './client.js';
import { comesBack, isOpen } from './silence.js';

/** The pause between two attempts, because the address may lead to the new primary only later. */
const PAUSE_MS = 1_000;

/** The part of a node-redis client or pool that sends any command to its single server. */
interface CommandSender {
  sendCommand(args: string[]): Promise<unknown>;
}

/**
 * Makes ioredis connect again if its server has become a replica: by now, the address may lead to the new primary.
 * A cluster names the new primary itself.
 */
export function leavingReplica(client: IoRedisClient, calls: ScriptCalls): ScriptCalls {
  if (client.nodes) return calls;
  return { ...calls, failed: onReadOnly(() => connectAgain(client)) };
}

/** Makes an open connection of ioredis connect again, unless that would close it for good. */
export function connectAgain(connection: Pick<IoRedisConnection, 'status' | 'disconnect'>): void {
  if (isOpen(connection) && comesBack(connection)) connection.disconnect(true);
}

/** The same for node-redis. It has no method to connect again, but does so if the server ends the connection. */
export function endedByReplica(client: NodeRedisClient, calls: ScriptCalls): ScriptCalls {
  if (!sendsCommands(client)) return calls;
  const leave = () => {
    // The client would close for good.
    if (optionOf(client, 'options', 'socket', 'reconnectStrategy') === false) return;
    // A pool sends each to another connection.
    const connections = isPool(client) ? Number(optionOf(client, 'totalClients')) : 1;
    for (let sent = 0; sent < connections; sent++) client.sendCommand(['QUIT']).catch(() => {});
  };
  return { ...calls, failed: onReadOnly(leave) };
}

/** Returns whether it is neither a cluster nor a sentinel, which find the new primary themselves. */
function sendsCommands(client: NodeRedisClient): client is NodeRedisClient & CommandSender {
  return !hasMethods(client, 'nodeClient') && !hasMethods(client, 'getMasterNode');
}

/**
 * Returns a function that takes the errors of calls. If the server rejects a write because it is a replica, the
 * function calls `leave`, at most once a second.
 */
export function onReadOnly(leave: () => void): (error: unknown) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (!isReadOnly(error) || performance.now() - last < PAUSE_MS) return;
    last = performance.now();
    leave();
  };
}

/** Until version 6, Redis states the code within the message of the script. */
function isReadOnly(error: unknown): boolean {
  return error instanceof Error && /\bREADONLY\b/.test(error.message);
}
