import type { Recovered, RecoveredOutcome, Recovery } from 'storefront-webhooks/recovery';
import { expect, test } from 'vitest';
import { adviceOn } from '../../../src/cli/recover/advice.js';

const URLS = ['https://shop.example/webhooks', 'https://shop.example/b'];
const MISSED = { refused: 0, unanswered: 0, foreign: 0, queued: 0 };

function advice(
  outcomes: RecoveredOutcome[],
  log: Partial<Recovery['log']> = {},
  changes: Partial<Recovery> = {},
): string {
  const deliveries = outcomes.map(
    (outcome): Recovered => ({
      ...{ id: 'whl_1', event: 'order:paid', recordId: 'ord_1', sentAt: new Date(0) },
      ...{ value: undefined, currency: undefined, reason: 'refused', outcome },
    }),
  );
  const recovery: Recovery = {
    ...{ applied: true, endpoint: 'enabled', complete: true, requests: 1, deliveries },
    ...{ withoutEndpoint: [], otherEndpoints: [], ordersForbidden: false },
    log: { done: 0, edited: 0, waiting: 0, ...MISSED, unreadable: 0, unknownShop: 0, ...log },
    ...changes,
  };
  return adviceOn(recovery, URLS, { recreateEndpoint: true }).join('\n');
}

test.each([
  ['nothing', advice([]), /^Nothing was missed\.$/],
  ['that nothing was missed', advice(['handled', 'duplicate']), /^Nothing is left\.$/],
  [
    'deliveries without a handler',
    advice(['ignored']),
    /^1 ignored: .* nothing to do\.\nNothing is left\.$/,
  ],
  [
    'deliveries that the provider still retries',
    advice([], { waiting: 2 }),
    /^2 not over yet: .*--now <date>\.$/,
  ],
  ['queued deliveries', advice([], { queued: 2 }), /^2 queued and not done: .*, add --queued\.$/],
  ['an unreadable entry', advice([], { unreadable: 3 }), /^3 unreadable: .* dashboard\./],
  ['no shop', advice([], { unknownShop: 1 }), /^1 for no shop of this receiver: .* --url\./],
  ['an edited entry', advice(['unsafe'], { edited: 1 }), /^1 unsafe: .* edited, and perhaps /],
  ['only unreadable entries', advice([], { unreadable: 1 }), /^1 unreadable: .* dashboard\.$/],
  [
    'young orders beside a disabled endpoint',
    advice([], { waiting: 1 }, { endpoint: 'recreated', complete: false }),
    /^The webhook endpoint .*\n1 too young .* in some minutes\.$/,
  ],
  [
    'an address without an endpoint',
    advice([], {}, { withoutEndpoint: ['https://shop.example/b'] }),
    /^There is no webhook endpoint for https:\/\/shop\.example\/b: .*--no-orders\.$/,
  ],
  [
    'an unknown address, with the known ones',
    advice(
      [],
      {},
      {
        withoutEndpoint: ['https://shop.example/b'],
        otherEndpoints: ['a', 'b', 'c', 'd', 'e', 'f'].map(
          (path) => `https://shop.example/${path}`,
        ),
      },
    ),
    /, the most like it first: https:\/\/shop\.example\/a, .*\/e, …\.$/,
  ],
  [
    'the endpoint of another shop at the same path',
    advice(
      [],
      {},
      {
        ...{ endpoint: 'missing', complete: false, withoutEndpoint: URLS },
        otherEndpoints: ['https://shop.example/b'],
      },
    ),
    /^THERE IS NO WEBHOOK ENDPOINT for (?!.*Correct --url).*differs in its query alone .*: give the whole address, with the query of your shop\. Correct the other addresses\. If the endpoint of your shop was deleted, create it again in the dashboard\.\n/,
  ],
  [
    'the endpoint of another shop beside a whole address',
    advice(
      [],
      {},
      {
        ...{ endpoint: 'missing', complete: false },
        withoutEndpoint: ['https://shop.example/b?shop=b'],
        otherEndpoints: ['https://shop.example/b'],
      },
    ),
    /^THERE IS NO WEBHOOK ENDPOINT for (?!.*whole address|.*the other).*: correct the query\. If .* create it again in the dashboard\.\n/,
  ],
  [
    'the endpoints of another shop beside an address with a query and one without',
    advice(
      [],
      {},
      {
        ...{ endpoint: 'missing', complete: false },
        withoutEndpoint: ['https://shop.example/webhooks?shop=a', 'https://shop.example/b'],
        otherEndpoints: ['https://shop.example/b', 'https://shop.example/webhooks'],
      },
    ),
    /^THERE IS NO WEBHOOK ENDPOINT for .*: correct each query, and give the query of your shop to each address that has none\. If the endpoint of your shop was deleted, create it again in the dashboard\.\n/,
  ],
  [
    'the endpoint of another shop at the path of one address',
    advice(
      [],
      {},
      {
        withoutEndpoint: ['https://shop.example/b'],
        otherEndpoints: ['https://shop.example/b'],
      },
    ),
    new RegExp(
      '^There is no webhook endpoint for https://shop\\.example/b: the provider sends nothing there\\. ' +
        'An endpoint that differs in its query alone is of another shop or of none, or the secret function threw for it: give the whole address, with the query of your shop\\. ' +
        'If the endpoint was deleted, create it again in the dashboard and add --orders\\. If you have moved away from the address, add --no-orders\\.\n',
    ),
  ],
  [
    'a token that may not read orders',
    advice([], {}, { ordersForbidden: true, complete: false }),
    /^The token may not read orders: .* --no-orders\.$/,
  ],
  [
    'an endpoint that does not subscribe to any handled event',
    advice([], {}, { endpoint: 'missing', complete: false }),
    /^THE WEBHOOK ENDPOINT IS SUBSCRIBED TO NO EVENT .* --orders\.$/,
  ],
  [
    'orders from before the receiver',
    advice(['earlier']),
    /^1 earlier: .* Check that --receiver .*--earlier /,
  ],
  [
    'an endpoint that could not be recreated',
    advice([], {}, { endpoint: 'disabled', complete: false }),
    /^THE WEBHOOK ENDPOINT IS STILL DISABLED: .* delete the old one\.\n/,
  ],
  ['a new oncePer', advice(['unsafe']), /\.onPaid\(.* first mark .*markDone\('onPaid', id\)/],
])('explains %s, and says what to do', (_, said, wanted) => {
  expect(said).toMatch(wanted);
});
