import { fromBase64 } from '../base64.js';
import type { ListFilter, StoredDelivery } from '../store.js';
import { READ } from './care-scripts.js';
import { DEAD, STALLED } from './index-scripts.js';
import type { Script } from './script.js';
import { inGroups, type Shards } from './shards.js';

type Run = (script: Script, key: string, ...args: string[]) => Promise<string>;

type ReadReply = [
  attempts: number,
  error: string | null,
  described: [scope: string, id: string, event: string, receivedAt: number],
  body: string,
];

/** The deliveries that wait for a person, in the order of their keys: that of the shards, too. */
export async function list(
  { state, scope, after = '', limit }: ListFilter,
  shards: Shards,
  run: Run,
): Promise<StoredDelivery[]> {
  const found: StoredDelivery[] = [];
  let last = after;
  for (;;) {
    const wanted = limit - found.length;
    const [script, index] =
      state === 'dead' ? ([DEAD, 'dead'] as const) : ([STALLED, 'open'] as const);
    const keys = await shards.find(script, index, wanted, last);
    const read = await inGroups(keys, (key) => readDelivery(run, key, state));
    // Of another scope, or changed in between: then there is more room on the page.
    found.push(...read.flat().filter((one) => (scope ?? one.scope) === one.scope));
    last = keys.at(-1) ?? last;
    if (keys.length < wanted || found.length >= limit) return found;
  }
}

async function readDelivery(
  run: Run,
  key: string,
  state: StoredDelivery['state'],
): Promise<StoredDelivery[]> {
  const reply = await run(READ, key, state);
  if (!reply) return [];
  const [attempts, error, described, body]: ReadReply = JSON.parse(reply);
  const [scope, id, event, receivedAt] = described;
  return [
    {
      key,
      scope,
      id,
      event,
      receivedAt,
      body: fromBase64(body),
      state,
      attempts,
      error: error ?? undefined,
    },
  ];
}
