import { once } from 'node:events';
import { nextMessage, startChild } from './children.js';
import { farAway } from './far-away.js';
import type { FromReceiver, Loaded, Stormed, StormTask } from './messages.js';
import { portOf } from './receivers.js';
import { SECRET } from './sender.js';
import type { TestedStore } from './stores.js';

/** The size of the pool, as docs/stores.md advises for a process that does nothing else. */
const CONNECTIONS = 4;

/** Receivers on one store, and their reports. */
export interface Loading {
  readonly loaded: Loaded;
  storm(task: Storming): Promise<Stormed>;
  close(): Promise<void>;
}

type Storming = StormTask extends infer Task
  ? Task extends unknown
    ? Omit<Task, 'ports' | 'secret'>
    : never
  : never;

const NOTHING: Loaded = { handled: 0, twice: 0, mostRss: 0, stillMs: 0, errors: {} };

/**
 * Starts separate receivers, whose handler takes 50 ms.
 *
 * @param options.tripMs - If given, each trip to the store takes as long, and each process has one connection.
 */
export async function startLoaded(
  store: TestedStore,
  {
    processes = 1,
    tripMs,
  }: { readonly processes?: number; readonly tripMs?: number | undefined } = {},
): Promise<Loading> {
  const far = tripMs === undefined ? undefined : await farAway(store, tripMs);
  const environment = {
    ...(far?.environment ?? (await store.fresh())),
    CHAOS_SECRET: SECRET,
    CHAOS_CONNECTIONS: `${far ? 1 : CONNECTIONS}`,
  };
  const children = Array.from({ length: processes }, () =>
    startChild(store.node, store.programs.overload, environment),
  );
  const loaded = new Map(children.map((child) => [child, NOTHING]));
  for (const child of children) {
    child.on('message', (message: FromReceiver) => {
      if (message.kind === 'loaded') loaded.set(child, message.loaded);
    });
  }
  const ports = await Promise.all(children.map(portOf));
  return {
    get loaded() {
      return [...loaded.values()].reduce(together);
    },
    async storm(task) {
      const sender = startChild(process.execPath, store.programs.storm, {
        CHAOS_TASK: JSON.stringify({ ...task, ports, secret: SECRET }),
      });
      const { stormed } = await nextMessage<{ stormed: Stormed }>(sender, () => true);
      // Nothing is lost of a storm that never began.
      if (stormed.attempts === 0) throw new Error(`No order was sent: ${JSON.stringify(task)}.`);
      return stormed;
    },
    async close() {
      const ended = children.map((child) => once(child, 'exit'));
      for (const child of children) child.kill('SIGTERM');
      await Promise.all(ended);
      await far?.close();
    },
  };
}

function together(one: Loaded, other: Loaded): Loaded {
  const errors = { ...one.errors };
  for (const [code, times] of Object.entries(other.errors))
    errors[code] = (errors[code] ?? 0) + times;
  return {
    handled: one.handled + other.handled,
    twice: one.twice + other.twice,
    mostRss: Math.max(one.mostRss, other.mostRss),
    stillMs: Math.max(one.stillMs, other.stillMs),
    errors,
  };
}
