/**
 * Simulates the outage of a receiver: how many deliveries wait, for how long, and which are lost.
 *
 * The simulation advances second by second, and counts cohorts: all deliveries that fail in the same second for
 * the same number of times are one count. That way, tens of millions of deliveries take milliseconds, with the
 * same sums as a random draw for each of them. The counts are whole numbers, so that no delivery is lost to
 * rounding, and nothing is random: jitter is spread evenly.
 *
 * @typedef {object} Storm
 * @property {number} rate - New deliveries a second, before, during and after the outage.
 * @property {number} outageAt - The second at which the receiver goes down.
 * @property {number} outage - The length of the outage, in seconds.
 * @property {{ delays: number[], jitter?: number }} schedule
 * @property {number} accepts - The number of deliveries a second that the receiver can answer 200.
 * @property {number} [works] - The number of jobs a second that the workers of a queue can do. Without it, there
 *   is no queue: accepted deliveries are done at once.
 * @property {number} [queueLimit] - The most jobs in the queue. Beyond it, deliveries are refused.
 * @property {number} [refusal] - The cost of refusing a delivery, in accepted deliveries: 0 if a proxy refuses
 *   it.
 * @property {{ delay: number, jitter?: number }} [retryAfter] - The delay that a refusal asks for, if the
 *   provider obeys.
 * @property {number} [horizon] - When to stop the simulation, in seconds after the outage.
 */

import { Waiting } from './waiting.mjs';

const SAMPLE = 60;

/** @param {Storm} storm */
export function simulate({ works, refusal = 0, queueLimit = Infinity, ...storm }) {
  const { rate, outageAt, outage, schedule, accepts, retryAfter, horizon = 200_000 } = storm;
  const back = outageAt + outage;
  const waiting = new Waiting(schedule);
  const sum = { sent: 0, attempts: 0, wasted: 0, done: 0, lostInOutage: 0, lostLater: 0 };
  let backlog = 0;
  let peakOffered = 0;
  let peakBacklog = 0;
  let peakWaiting = 0;
  let safe = null;
  let drained = null;
  const series = [];
  for (let second = 0; second < back + horizon; second++) {
    const isDown = second >= outageAt && second < back;
    const cohorts = waiting.due(second);
    cohorts[0] = (cohorts[0] ?? 0) + rate;
    const offered = total(cohorts);
    sum.sent += rate;
    sum.attempts += offered;
    const room = queueLimit - backlog + (works ?? 0);
    const taken = isDown ? 0 : Math.min(room, takes(offered, accepts, refusal));
    const lost = waiting.fail(
      second,
      refused(cohorts, offered, taken),
      isDown ? undefined : retryAfter,
    );
    sum[isDown ? 'lostInOutage' : 'lostLater'] += lost;
    sum.wasted += offered - taken;
    const finished = isDown
      ? Math.min(backlog, works ?? 0)
      : Math.min(backlog + taken, works ?? taken);
    backlog += taken - finished;
    sum.done += finished;
    if (second >= back) peakOffered = Math.max(peakOffered, offered);
    peakBacklog = Math.max(peakBacklog, backlog);
    peakWaiting = Math.max(peakWaiting, waiting.count);
    // No delivery waits at the provider any more.
    if (second >= back && waiting.count === 0) safe ??= second - back;
    else safe = null;
    const isDrained = second >= back && waiting.count === 0 && backlog === 0;
    if (isDrained || second % SAMPLE === 0) {
      series.push({ second: second - back, offered, taken, waiting: waiting.count, backlog });
    }
    if (isDrained) {
      drained = second - back;
      break;
    }
  }
  const lost = sum.lostInOutage + sum.lostLater;
  return {
    ...sum,
    lost,
    waiting: waiting.count,
    backlog,
    safe,
    drained,
    peakOffered,
    peakBacklog,
    peakWaiting,
    series,
  };
}

/** Returns how many of the offered deliveries are taken. Each refusal uses some of the capacity, too. */
function takes(offered, accepts, refusal) {
  if (offered <= accepts) return offered;
  if (refusal >= 1) return 0;
  return Math.max(0, Math.floor((accepts - refusal * offered) / (1 - refusal)));
}

/** Returns the deliveries that are refused: the same share of each cohort, in whole numbers. */
function refused(cohorts, offered, taken) {
  let seen = 0;
  let takenSoFar = 0;
  return cohorts.map((count) => {
    seen += count;
    const upToHere = Math.round((seen / offered) * taken);
    const left = count - (upToHere - takenSoFar);
    takenSoFar = upToHere;
    return left;
  });
}

function total(counts) {
  return counts.reduce((sum, count) => sum + count, 0);
}
