import assert from 'node:assert/strict';
import { test } from 'vitest';
import { reach, SCHEDULES } from './schedules.mjs';
import { simulate } from './storm.mjs';

const hour = { rate: 100, outageAt: 60, outage: 3600, accepts: 200 };
const SET_UPS = [
  { accepts: 150 },
  { accepts: 1000, works: 150 },
  { accepts: 1000, works: 150, queueLimit: 20_000 },
  { accepts: 150, refusal: 0.2 },
  { accepts: 150, retryAfter: { delay: 120, jitter: 0.5 } },
  // This capacity is too small even for the new deliveries alone.
  { accepts: 90, horizon: 5000 },
];

for (const schedule of SCHEDULES) {
  test(`every sent delivery is done, waiting or lost: ${schedule.label}`, () => {
    for (const setUp of SET_UPS) {
      const result = simulate({ ...hour, ...setUp, schedule });
      const { sent, done, waiting, backlog, lost, attempts, wasted } = result;
      assert.equal(done + waiting + backlog + lost, sent);
      assert.equal(attempts - wasted, done + backlog);
      for (const count of Object.values(result).filter(Number.isFinite)) {
        assert.ok(Number.isInteger(count) && count >= 0, `${count}`);
      }
    }
  });

  test(`the same storm has the same result: ${schedule.label}`, () => {
    assert.deepEqual(simulate({ ...hour, schedule }), simulate({ ...hour, schedule }));
  });

  test(`more capacity loses no more: ${schedule.label}`, () => {
    const lost = [110, 150, 200, 400, 100_000].map(
      (accepts) => simulate({ ...hour, accepts, schedule }).lost,
    );
    assert.deepEqual(
      lost,
      lost.toSorted((a, b) => b - a),
    );
  });

  test(`with capacity for all, only deliveries that expire during the outage are lost: ${schedule.label}`, () => {
    const { lost, lostLater } = simulate({ ...hour, accepts: 1e9, schedule });
    assert.equal(lostLater, 0);
    assert.equal(lost > 0, reach(schedule) < hour.outage);
  });
}

test('without an outage, each delivery is sent once, and none waits or is lost', () => {
  const result = simulate({ ...hour, outage: 0, schedule: { delays: [10] } });
  assert.equal(result.attempts, result.sent);
  assert.equal(result.drained, 0);
});

// Ten a second, 10 s of outage, one retry after 5 s: the deliveries of the first 5 s fail twice.
test('calculated by hand: one retry after 5 s, 10 s of outage', () => {
  const result = simulate({
    rate: 10,
    outageAt: 0,
    outage: 10,
    accepts: 1000,
    schedule: { delays: [5] },
  });
  assert.equal(result.lostInOutage, 50);
  assert.equal(result.lostLater, 0);
  assert.equal(result.wasted, 100 + 50);
  // The last one failed at second 9, and was retried at second 14: 4 s after the receiver was back.
  assert.equal(result.drained, 4);
  assert.equal(result.peakOffered, 20);
});

// 100 old and 100 new deliveries share capacity for 150: 25 of each are rejected, and the old ones have used
// their only retry.
test('calculated by hand: a rejected delivery uses up its attempts', () => {
  const crowd = simulate({
    rate: 100,
    outageAt: 0,
    outage: 1,
    accepts: 150,
    horizon: 1,
    schedule: { delays: [1] },
  });
  assert.equal(crowd.done, 150);
  assert.equal(crowd.lostLater, 25);
  assert.equal(crowd.waiting, 25);
});

test('calculated by hand: a queue accepts all deliveries at once, and its workers process them later', () => {
  const result = simulate({
    rate: 10,
    outageAt: 0,
    outage: 10,
    accepts: 1000,
    works: 20,
    schedule: { delays: [10] },
  });
  // 20 a second arrive for 10 s, and 20 a second are done: nothing piles up.
  assert.equal(result.peakBacklog, 0);
  const slow = simulate({
    rate: 10,
    outageAt: 0,
    outage: 10,
    accepts: 1000,
    works: 15,
    schedule: { delays: [10] },
  });
  // 5 a second pile up for 10 s, and then go at 5 a second.
  assert.equal(slow.peakBacklog, 50);
  assert.equal(slow.drained, 19);
  // All failed deliveries were retried within the length of the outage.
  assert.equal(slow.safe, 9);
});

test('calculated by hand: a full queue rejects deliveries, and the provider retries them', () => {
  const result = simulate({
    rate: 10,
    outageAt: 0,
    outage: 10,
    accepts: 1000,
    works: 15,
    queueLimit: 20,
    schedule: { delays: [10, 10, 10, 10] },
  });
  assert.equal(result.peakBacklog, 20);
  assert.equal(result.lost, 0);
});

// 200 deliveries arrive at a capacity for 150.
test('calculated by hand: rejections reduce the capacity until none is left', () => {
  const done = (refusal) =>
    simulate({
      rate: 100,
      outageAt: 0,
      outage: 1,
      accepts: 150,
      refusal,
      horizon: 1,
      schedule: { delays: [1] },
    }).done;
  assert.equal(done(0), 150);
  // 100 + (200 - 100) / 2 = 150
  assert.equal(done(0.5), 100);
  assert.equal(done(0.8), 0);
});

test('a provider that obeys Retry-After retries later', () => {
  const crowd = (delay) =>
    simulate({
      rate: 100,
      outageAt: 0,
      outage: 1,
      accepts: 150,
      retryAfter: { delay },
      schedule: { delays: [1, 1, 1, 1, 1, 1] },
    });
  assert.ok(crowd(60).drained >= 60);
  assert.ok(crowd(0).drained < 60);
});
