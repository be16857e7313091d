import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Load } from '../../src/process/load.js';

const MEBIBYTE = 1024 * 1024;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});
// The next file must not take the modules of another runtime.
afterAll(() => void vi.resetModules());

/** Returns the class as a runtime with other globals loads it. */
async function loadOn(globals: object): Promise<typeof Load> {
  for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
  vi.resetModules();
  return (await import('../../src/process/load.js')).Load;
}

function setUp(Counted = Load) {
  const errors: string[] = [];
  const shed = vi.fn();
  const load = new Counted({
    error: (error) => errors.push(error instanceof Error ? error.message : ''),
    shed,
  });
  const came = () => ({ startedAt: performance.now() });
  const ends: (() => void)[] = [];
  /** Starts a number of deliveries, and returns how many were accepted. */
  const begin = (count: number, bytes = 100) => {
    const before = ends.length;
    for (let left = count; left > 0; left--)
      void load.hold(
        { length: bytes },
        came(),
        () => new Promise<void>((resolve) => ends.push(resolve)),
      );
    return ends.length - before;
  };
  const end = (count: number) => {
    for (const resolve of ends.splice(0, count)) resolve();
  };
  return { load, errors, shed, came, begin, end };
}

/** Finishes a number of deliveries every 100 ms for some time. */
async function workOff({ end }: ReturnType<typeof setUp>, perTick: number, ticks: number) {
  for (let tick = 0; tick < ticks; tick++) {
    end(perTick);
    await vi.advanceTimersByTimeAsync(100);
  }
}

/** Returns a function that blocks the event loop, in the fake clock. */
function setUpStandStill(): (ms: number) => void {
  const now = performance.now.bind(performance);
  let lateMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now() + lateMs);
  return (ms) => {
    lateMs += ms;
  };
}

describe('a receiver', () => {
  test('accepts 4,000 deliveries at once, and answers 503 to the others', () => {
    const { begin, load, shed } = setUp();
    expect(begin(5_000)).toBe(4_000);
    expect(shed).toHaveBeenCalledTimes(1_000);
    expect(load.refuse()).toMatchObject({ outcome: 'unavailable', retryAfterMs: 3_002 });
  });

  test('accepts more while claims are answered quickly', async () => {
    const run = setUp();
    for (let round = 0; round < 4; round++) {
      run.begin(10_000);
      await workOff(run, 400, 5);
    }
    run.begin(10_000);
    expect(run.load.inHand).toBeGreaterThan(8_000);
  });

  test('accepts only what it finishes within a second while claims wait', async () => {
    const run = setUp();
    run.load.asked();
    await vi.advanceTimersByTimeAsync(1);
    for (let round = 0; round < 20; round++) {
      run.begin(1_000);
      await workOff(run, 20, 5);
    }
    run.begin(1_000);
    // This load finishes 200 deliveries a second.
    const inHand = run.load.inHand;
    expect(inHand).toBeGreaterThan(100);
    expect(inHand).toBeLessThan(300);
  });

  test('still accepts a few while no delivery finishes', async () => {
    const run = setUp();
    run.load.asked();
    run.begin(1_000);
    await vi.advanceTimersByTimeAsync(60_000);
    run.end(1_000);
    await vi.advanceTimersByTimeAsync(0);
    expect(run.begin(1_000)).toBe(32);
  });

  test('accepts more again within seconds after claims are answered', async () => {
    const run = setUp();
    const waiting = run.load.asked();
    run.begin(1_000);
    await vi.advanceTimersByTimeAsync(30_000);
    run.load.answered(waiting);
    run.end(1_000);
    for (let round = 0; round < 20; round++) {
      run.begin(1_000);
      await workOff(run, 100, 1);
    }
    run.begin(1_000);
    expect(run.load.inHand).toBeGreaterThan(200);
  });

  test('accepts as much as before after its process stood still once', async () => {
    const { load, begin, end } = setUp();
    const standStill = setUpStandStill();
    begin(1);
    const claim = load.asked();
    await vi.advanceTimersByTimeAsync(100);
    standStill(2_000);
    await vi.advanceTimersByTimeAsync(200);
    load.answered(claim);
    end(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(begin(5_000)).toBe(4_000);
  });

  test('accepts fewer while its event loop is late', async () => {
    const run = setUp();
    const standStill = setUpStandStill();
    for (let round = 0; round < 20; round++) {
      run.begin(1_000);
      standStill(400);
      await workOff(run, 50, 3);
    }
    run.begin(1_000);
    // This load finishes 215 deliveries a second.
    expect(run.load.inHand).toBeGreaterThan(100);
    expect(run.load.inHand).toBeLessThan(350);
  });

  test('sheds nothing because a single claim is stuck', async () => {
    const { load, shed, came } = setUp();
    /** Sends 200 deliveries a second, whose handlers take 2 s. */
    const send = async (seconds: number) => {
      for (let tick = 0; tick < 10 * seconds; tick++) {
        for (let left = 20; left > 0; left--)
          void load.hold({ length: 1_000 }, came(), async () => {
            load.answered(load.asked());
            await new Promise((resolve) => setTimeout(resolve, 2_000));
          });
        await vi.advanceTimersByTimeAsync(100);
      }
    };
    await send(2);
    // As on a silent connection, or for a locked row.
    const stuck = load.asked();
    await send(5);
    load.answered(stuck);
    await send(3);
    expect(shed).not.toHaveBeenCalled();
  });

  test('accepts fewer while most claims are late, although the others are answered at once', async () => {
    const run = setUp();
    for (let round = 0; round < 40; round++) {
      run.begin(1_000);
      for (let left = 50; left > 0; left--) {
        run.load.answered(run.load.asked());
        const late = run.load.asked();
        setTimeout(() => run.load.answered(late), 3_000);
      }
      await workOff(run, 20, 5);
    }
    run.begin(1_000);
    expect(run.load.inHand).toBeGreaterThan(100);
    expect(run.load.inHand).toBeLessThan(300);
  });

  test('holds at most 64 MiB of bodies', () => {
    const { begin } = setUp();
    expect(begin(100, MEBIBYTE)).toBe(64);
  });

  test('has room for further bodies once deliveries have finished', async () => {
    const { begin, end, load } = setUp();
    expect(begin(3, 32 * MEBIBYTE)).toBe(2);
    end(2);
    await vi.advanceTimersByTimeAsync(0);
    expect(load.refuse()).toBeUndefined();
    expect(begin(3, 32 * MEBIBYTE)).toBe(2);
  });

  test('gives each sender the time when the earlier deliveries will have finished', async () => {
    const run = setUp();
    for (let round = 0; round < 8; round++) {
      run.begin(250);
      await workOff(run, 50, 5);
    }
    while (run.begin(1) > 0);
    const after = Array.from({ length: 2_000 }, () => run.load.refuse()?.retryAfterMs ?? 0);
    expect(after[0]).toBeLessThan(1_100);
    expect(after[999]).toBeGreaterThan(2_000);
    expect(after[1_999]).toBeGreaterThan(3_500);
    expect(new Set(after.map((ms) => Math.ceil(ms / 1_000))).size).toBeGreaterThan(3);
    for (let left = 100_000; left > 0; left--) run.load.refuse();
    expect(run.load.refuse()?.retryAfterMs).toBeLessThanOrEqual(61_000);
  });

  test('reports the beginning and the end of an overload', async () => {
    const { begin, end, errors, load } = setUp();
    begin(4_200);
    expect(errors).toEqual([expect.stringMatching(/^More webhooks arrive than this process can/)]);
    begin(5);
    end(4_000);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(errors.slice(1)).toEqual([
      expect.stringMatching(/^The overload is over.* 205 requests were answered 503\./),
    ]);
    // Each check of the load reads `inHand`. Other test files share the timers and clocks, but not this load.
    const look = vi.fn(() => 0);
    Object.defineProperty(load, 'inHand', { get: look });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(errors).toHaveLength(2);
    expect(look).not.toHaveBeenCalled();
  });

  test('does not start a delivery whose sender hung up while it waited, and reports it', async () => {
    const { load, shed } = setUp();
    const work = vi.fn(async () => 'worked');
    const came = { startedAt: performance.now(), isGone: () => true };
    expect(await load.hold({ length: 1 }, came, work)).toBe('worked');
    expect(shed).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(300);
    expect(await load.hold({ length: 1 }, came, work)).toMatchObject({ outcome: 'unavailable' });
    expect(work).toHaveBeenCalledOnce();
    expect(shed).toHaveBeenCalledOnce();
    expect(load.inHand).toBe(0);
  });
});

test('a full buffer of bodies drops the slowest body first', () => {
  const { bodies } = setUp().load;
  const givenUp: string[] = [];
  const begin = (name: string) => bodies.begin(() => givenUp.push(name));
  const [slow, slower, last] = [begin('slow'), begin('slower'), begin('last')];
  bodies.add(slow, 40 * MEBIBYTE);
  bodies.add(slower, 23 * MEBIBYTE);
  expect(givenUp).toEqual([]);
  bodies.add(last, MEBIBYTE);
  expect(givenUp).toEqual(['slow']);
  bodies.add(last, 41 * MEBIBYTE);
  expect(givenUp).toEqual(['slow', 'slower']);
  bodies.end(last);
  bodies.add(begin('next'), 63 * MEBIBYTE);
  expect(givenUp).toEqual(['slow', 'slower']);
});

describe.each([
  ['Cloudflare', { WebSocketPair: class {} }],
  ['Vercel', { EdgeRuntime: 'edge-runtime' }],
])('on the edge runtime of %s', (_, globals) => {
  test('deliveries that the platform cuts off take no capacity from later ones', async () => {
    const { begin, load, shed } = setUp(await loadOn(globals));
    // These deliveries never end.
    expect(begin(5_000)).toBe(5_000);
    expect(load.refuse()).toBeUndefined();
    expect(shed).not.toHaveBeenCalled();
  });
});

test('a turn ends without setImmediate, even if its timer was stopped', async () => {
  const { load } = setUp(await loadOn({ setImmediate: undefined }));
  load.waitForTurn();
  // As crashPoints does with the process that it abandons.
  vi.clearAllTimers();
  vi.advanceTimersByTime(100);
  const hasEnded = vi.fn();
  load.waitForTurn()?.then(hasEnded);
  await vi.advanceTimersByTimeAsync(10);
  expect(hasEnded).toHaveBeenCalledOnce();
});
