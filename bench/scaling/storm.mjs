/**
 * What happens when a receiver has been down: how many deliveries wait, for how long, and which are lost.
 *
 * Second by second, and by cohorts: all deliveries that fail at the same second for the same number of
 * times are one count. Tens of millions of deliveries take milliseconds that way, and a sum over so many
 * is what a draw for each of them would give. The counts are whole numbers, so that none is lost to
 * rounding, and nothing is random: jitter is spread evenly.
 *
 * @typedef {object} Storm
 * @property {number} rate - New deliveries a second, before, during and after the outage.
 * @property {number} outageAt - The second at which the receiver goes down.
 * @property {number} outage - For how many seconds.
 * @property {{ delays: number[], jitter?: number }} schedule
 * @property {number} accepts - How many deliveries a second the receiver can answer 200.
 * @property {number} [works] - How many the workers of a queue can do a second. Without it, there is no
 *   queue: what is accepted is done.
 * @property {number} [queueLimit] - How many jobs the queue holds. What comes then is refused.
 * @property {number} [refusal] - What it costs to refuse one, in accepted ones: 0 where a proxy does it.
 * @property {{ delay: number, jitter?: number }} [retryAfter] - What a refusal asks to wait, where the
 *   provider obeys.
 * @property {number} [horizon] - When to give up, in seconds after the outage.
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
    // Nothing is left to the provider.
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

/** How many of those offered are taken, where each refusal takes some of the capacity, too. */
function takes(offered, accepts, refusal) {
  if (offered <= accepts) return offered;
  if (refusal >= 1) return 0;
  return Math.max(0, Math.floor((accepts - refusal * offered) / (1 - refusal)));
}

/** Those that are not taken: of each cohort as large a part, to the whole number. */
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
