/**
 * The ways in which a provider may retry. This provider's schedule is unknown, so it is a parameter. `delays`
 * are the seconds from one failure to the next attempt, and `jitter` is the share by which each is spread to
 * both sides.
 */
export const SCHEDULES = [
  {
    name: 'three',
    label: '3 retries: 10 s, 1 min, 5 min',
    delays: [10, 60, 300],
  },
  {
    name: 'minutes',
    label: '120 retries, every minute',
    delays: Array(120).fill(60),
  },
  {
    name: 'doubling',
    label: '12 retries: 10 s, doubling, ± 20 %',
    delays: Array.from({ length: 12 }, (_, retry) => 10 * 2 ** retry),
    jitter: 0.2,
  },
  {
    name: 'hours',
    label: '24 retries, every hour',
    delays: Array(24).fill(3600),
  },
  {
    name: 'patient',
    label: '7 retries: 5 s to 10 h',
    delays: [5, 300, 1800, 7200, 18_000, 36_000, 36_000],
  },
];

/** Returns the seconds from the first to the last attempt of a delivery. */
export function reach({ delays }) {
  return delays.reduce((sum, delay) => sum + delay, 0);
}
