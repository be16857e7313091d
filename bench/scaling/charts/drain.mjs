import { bySchedule } from './style.mjs';

const MINUTES = {
  scale: { type: 'log', domain: [1, 3000], nice: false },
  axis: { values: [1, 10, 60, 600, 1440], format: ',' },
};

/** Draws how long the recovery takes and what is lost, by the capacity in multiples of the usual rate. */
export function drainChart(capacities) {
  const values = capacities.map(({ schedule, times, result }) => ({
    schedule: schedule.label,
    times,
    minutes: result.drained === null ? null : result.drained / 60,
    lost: result.lost / 1e6,
  }));
  const panel = (field, title, text, scale, isLast) => ({
    title: { text, fontSize: 12, offset: 6 },
    width: 560,
    height: 170,
    data: { values },
    mark: { type: 'line', strokeWidth: 2, point: { size: 25 } },
    encoding: {
      x: {
        field: 'times',
        type: 'quantitative',
        title: isLast ? 'capacity, as a multiple of the usual load' : null,
        scale: { type: 'log', domain: [1, 10], nice: false },
        axis: { values: [1, 1.2, 1.5, 2, 3, 5, 7, 10] },
      },
      y: { field, type: 'quantitative', title, ...scale },
      color: bySchedule,
    },
  });
  return {
    title: {
      text: 'After an hour of outage, by capacity',
      subtitle:
        'A simulation: 10,000 a second, handlers in the web process, a rejection costs nothing.',
    },
    vconcat: [
      panel('minutes', 'minutes, logarithmic', 'Until nothing waits any more', MINUTES, false),
      panel(
        'lost',
        'million deliveries',
        'Lost, of the 36 million in the outage and those after it',
        {},
        true,
      ),
    ],
  };
}
