import { writeLine } from '../../errors/log.js';
import { fromBase64 } from '../../runtime/base64.js';
import type { ReadFilter } from '../contract.js';
import { ABANDONED_INTERRUPTED, type StoredDelivery, type UnfinishedState } from '../store.js';
import { toStored } from '../stored.js';
import { READ } from './care-scripts.js';
import { DEAD, DUE, STALLED } from './index-scripts.js';
import type { Script } from './script.js';
import { deliveryKeys, type Index, inGroups, type Shards } from './shards.js';

type Run = (script: Script, key: string, ...args: string[]) => Promise<string>;

type ReadReply = [
  attempts: number,
  error: string | null,
  described: [scope: string, id: string, event: string, receivedAt: number, proof?: string],
  body: string,
  fence: number,
  notBefore: number,
  lapsed: boolean,
];

const INDEXES: Record<UnfinishedState, readonly [Script, Index]> = {
  dead: [DEAD, 'dead'],
  stalled: [STALLED, 'open'],
  failing: [DUE, 'open'],
};

/**
 * Lists unfinished deliveries in the order of their keys, which is also the order of the shards. Entries that
 * cannot be read, because something else has written to Redis, must not hide the others: they are skipped and
 * reported.
 */
export async function list(
  { state, scope, after, limit }: ReadFilter,
  shards: Shards,
  run: Run,
): Promise<StoredDelivery[]> {
  const [script, index] = INDEXES[state];
  const found: StoredDelivery[] = [];
  const unreadable = new Set<string>();
  for (let last = after; found.length < limit; ) {
    const wanted = limit - found.length;
    const { keys, foreign } = await shards.find(script, index, wanted, last);
    for (const one of foreign) unreadable.add(one);
    const replies = await inGroups(keys, (key) => run(READ, key, state));
    for (const [at, key] of keys.entries()) {
      const reply = replies[at];
      // An empty reply: the delivery has changed in between. The next turn fills the page.
      if (!reply) continue;
      const delivery = fromReply(key, reply, state);
      if (!delivery) unreadable.add(deliveryKeys(key)[0] ?? key);
      else if ((scope ?? delivery.scope) === delivery.scope) found.push(delivery);
    }
    const next = keys.at(-1) ?? last;
    // A page without new keys would be requested forever.
    if (keys.length < wanted || next <= last) break;
    last = next;
  }
  tell(unreadable);
  return found;
}

/** Parses a reply; `undefined` if it cannot be read. */
function fromReply(key: string, reply: string, state: UnfinishedState): StoredDelivery | undefined {
  try {
    const [attempts, error, described, body, fence, notBefore, hasLapsed]: ReadReply =
      JSON.parse(reply);
    const lapsed = hasLapsed || error === ABANDONED_INTERRUPTED;
    const [scope, id, event, receivedAt, proof] = described;
    const isWhole = [scope, id, event, proof ?? ''].every((text) => typeof text === 'string');
    if (!isWhole || typeof receivedAt !== 'number') return undefined;
    const sealed = { key, scope, id, event, receivedAt, proof, body: fromBase64(body) };
    return toStored({ ...sealed, attempts, error, fence, notBefore, lapsed }, state);
  } catch {
    return undefined;
  }
}

function tell(unreadable: ReadonlySet<string>): void {
  const [first] = unreadable;
  if (first === undefined) return;
  writeLine(
    `${unreadable.size} of the Redis keys of deliveries cannot be read, so their deliveries are not ` +
      `listed. Something else has written into them. Look at the first, ${first}, and repair or delete it.`,
    'operate.md#redis-unreadable',
  );
}
