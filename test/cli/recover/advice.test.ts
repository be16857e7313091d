import type { Recovered, RecoveredOutcome, Recovery } from 'storefront-webhooks/recovery';
import { expect, test } from 'vitest';
import { adviceOn } from '../../../src/cli/recover/advice.js';

const MISSED = { refused: 0, unanswered: 0, foreign: 0, queued: 0 };

function advice(outcomes: RecoveredOutcome[], log: Partial<Recovery['log']> = {}): string {
  const deliveries = outcomes.map(
    (outcome): Recovered => ({
      ...{ id: 'whl_1', event: 'order:paid', recordId: 'ord_1', toldAt: new Date(0) },
      ...{ value: undefined, currency: undefined, reason: 'refused', outcome },
    }),
  );
  const recovery: Recovery = {
    ...{ applied: true, endpoint: 'enabled', complete: true, requests: 1, deliveries },
    log: { done: 0, edited: 0, waiting: 0, ...MISSED, unreadable: 0, unknownShop: 0, ...log },
  };
  return adviceOn(recovery, ['https://shop.example/webhooks']).join('\n');
}

test.each([
  ['nothing', advice([]), /^Nothing was missed\.$/],
  ['all of it', advice(['handled', 'duplicate']), /^Nothing is left\.$/],
  [
    'what no handler is for',
    advice(['ignored']),
    /^1 ignored: .* nothing to do\.\nNothing is left\.$/,
  ],
  ['what is still sent', advice([], { waiting: 2 }), /^2 not over yet: .*--now <date>\.$/],
  ['what is queued', advice([], { queued: 2 }), /^2 queued and not done: .*, add --queued\.$/],
  ['an entry that is none', advice([], { unreadable: 3 }), /^3 unreadable: .* dashboard\./],
  ['no shop', advice([], { unknownShop: 1 }), /^1 for no shop of this receiver: .* --url\./],
  ['what was edited', advice([], { edited: 1 }), /^1 edited in the log /],
])('says of %s what it is, and what to do', (_, said, wanted) => {
  expect(said).toMatch(wanted);
});
