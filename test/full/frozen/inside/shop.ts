import { createReceiver, type IdempotencyStore, type Receiver } from 'storefront-webhooks';
import { VERBS } from '../../../../src/stores/contract.js';
import { SECRET } from '../../../support/deliver.js';
import { decode, encode, type Reply } from '../../../support/remote-answer.js';

/** A shop in a process that its platform can freeze. The test holds its store, and counts its goods. */
export function makeShop(host: string): Receiver {
  const receiver = createReceiver({ secret: SECRET, store: remoteStore(host) });
  return receiver.onPaid(async ({ payload }) => {
    await fetch(`${host}/goods`, { method: 'POST', body: payload.id });
  });
}

let calls = 0;

function remoteStore(host: string): IdempotencyStore {
  const ask = async (verb: string, args: readonly unknown[]): Promise<unknown> => {
    calls += 1;
    const body = encode({ call: calls, verb, args });
    const response = await fetch(`${host}/store`, { method: 'POST', body });
    if (!response.ok) throw new Error('The store is away.');
    const { result, error } = decode<Reply>(await response.text());
    if (error) throw new Error(error.message);
    return result;
  };
  const verbs = VERBS.map((verb) => [verb, (...args: unknown[]) => ask(verb, args)]);
  // Each verb answers what the store of the test does.
  return { ...Object.fromEntries(verbs), durable: true, description: 'the store of the test' };
}
