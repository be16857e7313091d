import { ASSUMED } from '../scenarios.mjs';
import { bySchedule } from './style.mjs';

const FROM_MINUTE = -65;
const TO_MINUTE = 150;

/** Draws what waits at the provider and in the queue, during the outage and after it. */
export function backlogChart(storms) {
  const panel = (setUp, label, field, title) => ({
    title: { text: title, fontSize: 12, offset: 6 },
    width: 560,
    height: 130,
    layer: [
      {
        data: { values: [{ from: -ASSUMED.outage / 60, to: 0 }] },
        mark: { type: 'rect', color: '#f2f2f2' },
        encoding: {
          x: { field: 'from', type: 'quantitative' },
          x2: { field: 'to' },
        },
      },
      {
        data: { values: points(storms, setUp, field) },
        mark: { type: 'line', strokeWidth: 2, clip: true },
        encoding: {
          x: {
            field: 'minute',
            type: 'quantitative',
            title: label,
            scale: { domain: [FROM_MINUTE, TO_MINUTE], nice: false },
          },
          y: { field: 'millions', type: 'quantitative', title: 'million deliveries' },
          color: bySchedule,
        },
      },
    ],
  });
  return {
    title: {
      text: 'An hour of outage at 10,000 deliveries a second',
      subtitle: 'A simulation. Grey: the receiver is down. Lost deliveries no longer wait.',
    },
    vconcat: [
      panel('web', null, 'waiting', 'Handlers in the web process: waiting at the provider'),
      panel('queue', null, 'waiting', 'Queue and workers: waiting at the provider'),
      panel(
        'queue',
        'minutes after it is back',
        'backlog',
        'Queue and workers: waiting in the queue',
      ),
    ],
  };
}

function points(storms, setUpName, field) {
  return storms
    .filter(({ setUp }) => setUp.name === setUpName)
    .flatMap(({ schedule, result }) =>
      result.series.map((sample) => ({
        schedule: schedule.label,
        minute: sample.second / 60,
        millions: sample[field] / 1e6,
      })),
    )
    .filter(({ minute }) => minute >= FROM_MINUTE - 5 && minute <= TO_MINUTE + 5);
}
