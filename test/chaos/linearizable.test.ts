import { describe, expect, test } from 'vitest';
import { type Call, isLinearizable } from './linearizable.js';

const LEASE_MS = 1_000;

function claim(invoked: number, returned: number, owner: string, result: number | string): Call {
  const acquired = typeof result === 'number';
  return {
    verb: 'claim',
    invoked,
    returned,
    owner,
    leaseMs: LEASE_MS,
    fence: acquired ? result : undefined,
    result: acquired ? 'acquired' : result,
  };
}

function verb(
  name: Exclude<Call['verb'], 'claim'>,
  invoked: number,
  returned: number,
  fence: number,
  result: 'accepted' | 'refused',
): Call {
  return { verb: name, invoked, returned, fence, leaseMs: LEASE_MS, result };
}

describe('accepts', () => {
  test.each<[string, Call[]]>([
    ['nothing', []],
    [
      'one winner of simultaneous claims',
      [claim(0, 9, 'a', 'busy'), claim(1, 8, 'b', 5), claim(2, 7, 'c', 'busy')],
    ],
    ['a repeated claim of the holder', [claim(0, 1, 'a', 5), claim(2, 3, 'a', 5)]],
    [
      'a takeover after the lease has expired',
      [
        claim(0, 1, 'a', 5),
        claim(500, 501, 'b', 'busy'),
        claim(1_100, 1_101, 'b', 6),
        verb('complete', 1_102, 1_103, 5, 'refused'),
        verb('complete', 1_104, 1_105, 6, 'accepted'),
        claim(1_106, 1_107, 'c', 'done'),
      ],
    ],
    [
      'a late result without a takeover',
      [
        claim(0, 1, 'a', 5),
        verb('complete', 5_000, 5_001, 5, 'accepted'),
        verb('complete', 5_002, 5_003, 5, 'accepted'),
        claim(5_004, 5_005, 'b', 'done'),
      ],
    ],
    [
      'a renewal that extends the lease',
      [
        claim(0, 1, 'a', 5),
        verb('renew', 900, 901, 5, 'accepted'),
        claim(1_500, 1_501, 'b', 'busy'),
      ],
    ],
    [
      'a claim after a failure or a release',
      [
        claim(0, 1, 'a', 5),
        verb('fail', 2, 3, 5, 'accepted'),
        verb('fail', 4, 5, 5, 'accepted'),
        claim(6, 7, 'b', 6),
        verb('release', 8, 9, 6, 'accepted'),
        claim(10, 11, 'c', 7),
      ],
    ],
    [
      'a completion at the same time as a claim, in either order',
      [
        claim(0, 1, 'a', 5),
        verb('complete', 1_100, 1_110, 5, 'accepted'),
        claim(1_100, 1_110, 'b', 'done'),
      ],
    ],
  ])('%s', (_, history) => expect(isLinearizable(history)).toBe(true));
});

describe('rejects', () => {
  test.each<[string, Call[]]>([
    ['two winners', [claim(0, 9, 'a', 5), claim(1, 8, 'b', 6)]],
    [
      'two winners of forty simultaneous claims',
      Array.from({ length: 40 }, (_, index) =>
        claim(index / 100, 9, `${index}`, index < 2 ? 5 + index : 'busy'),
      ),
    ],
    ['two winners with one fence', [claim(0, 9, 'a', 5), claim(1, 8, 'b', 5)]],
    ['no winner', [claim(0, 9, 'a', 'busy'), claim(1, 8, 'b', 'busy')]],
    [
      'a winner that claimed later than one that found it busy',
      [claim(0, 1, 'a', 'busy'), claim(2, 3, 'b', 5)],
    ],
    [
      'a fence that decreases',
      [claim(0, 1, 'a', 5), verb('fail', 2, 3, 5, 'accepted'), claim(4, 5, 'b', 4)],
    ],
    [
      'a fence that stays the same',
      [claim(0, 1, 'a', 5), verb('fail', 2, 3, 5, 'accepted'), claim(4, 5, 'b', 5)],
    ],
    ['a takeover before the lease has expired', [claim(0, 1, 'a', 5), claim(900, 901, 'b', 6)]],
    [
      'a takeover of a renewed lease',
      [claim(0, 1, 'a', 5), verb('renew', 900, 901, 5, 'accepted'), claim(1_500, 1_501, 'b', 6)],
    ],
    ['a lease that does not expire', [claim(0, 1, 'a', 5), claim(1_100, 1_101, 'b', 'busy')]],
    ...(['renew', 'completeStep', 'complete', 'fail', 'release'] as const).map(
      (name): [string, Call[]] => [
        `a stale ${name} that succeeded`,
        [claim(0, 1, 'a', 5), claim(1_100, 1_101, 'b', 6), verb(name, 1_102, 1_103, 5, 'accepted')],
      ],
    ),
    [
      'a rejected completion by the holder',
      [claim(0, 1, 'a', 5), verb('complete', 2, 3, 5, 'refused')],
    ],
    [
      'a claim that succeeds after the delivery is done',
      [claim(0, 1, 'a', 5), verb('complete', 2, 3, 5, 'accepted'), claim(4, 5, 'b', 6)],
    ],
    [
      'a failure after done',
      [
        claim(0, 1, 'a', 5),
        verb('complete', 2, 3, 5, 'accepted'),
        verb('fail', 4, 5, 5, 'accepted'),
      ],
    ],
    ['a done delivery that was never completed', [claim(0, 1, 'a', 5), claim(2, 3, 'b', 'done')]],
  ])('%s', (_, history) => expect(isLinearizable(history)).toBe(false));
});
