import { about, bytes, markdown, millions, minutes } from '../numbers.mjs';
import { ASSUMED, perCore, refusalCost, setUps, storm } from '../scenarios.mjs';
import { SCHEDULES } from '../schedules.mjs';

export function capacityText(costs) {
  const { machines, coresOfMachine, webMachines, handlerMicros } = ASSUMED;
  const { whole, accepting, working } = perCore(costs);
  const [web, queue] = setUps(costs);
  const micros = (perSecond) => about(1e6 / perSecond);
  return [
    `Assumed: ${machines} machines of ${coresOfMachine} cores, handlers that take ${handlerMicros / 1000} ms of CPU, and stores and queues that keep up.`,
    '',
    markdown(
      ['', 'one delivery, µs of CPU', 'one core, a second', 'cores', 'all, a second'],
      [
        [
          'handlers in the web process',
          micros(whole),
          about(whole),
          machines * coresOfMachine,
          about(web.accepts),
        ],
        [
          'queue: accept',
          micros(accepting),
          about(accepting),
          webMachines * coresOfMachine,
          about(queue.accepts),
        ],
        [
          'queue: work off',
          micros(working),
          about(working),
          (machines - webMachines) * coresOfMachine,
          about(queue.works),
        ],
      ],
    ),
  ].join('\n');
}

export function stormTable(storms) {
  const rows = storms
    .filter(({ setUp }) => setUp.name === 'web')
    .map(({ schedule, result }) => [
      schedule.label,
      millions(result.lostInOutage),
      millions(result.lostLater),
      millions(result.wasted),
      `${about(result.peakOffered)} a second`,
      minutes(result.drained),
    ]);
  return markdown(
    [
      'the provider retries',
      'lost in the outage',
      'lost after it',
      'failed attempts',
      'peak after it',
      'until nothing waits',
    ],
    rows,
  );
}

export function stormQueueTable(storms, costs) {
  const { jobBytes } = costs[`${ASSUMED.queue} enqueue`];
  const rows = storms
    .filter(({ setUp }) => setUp.name === 'queue')
    .map(({ schedule, result }) => [
      schedule.label,
      millions(result.lostInOutage),
      millions(result.lostLater),
      millions(result.wasted),
      `${millions(result.peakBacklog)}, ${bytes(result.peakBacklog * jobBytes)}`,
      minutes(result.safe),
      minutes(result.drained),
    ]);
  return markdown(
    [
      'the provider retries',
      'lost in the outage',
      'lost after it',
      'failed attempts',
      'most in the queue',
      'until all are in the queue',
      'until all are done',
    ],
    rows,
  );
}

export function pressureTable(costs) {
  const [web, queue] = setUps(costs);
  const refusal = refusalCost(costs);
  const cases = [
    ['web, refused by a proxy', web],
    ['web, refused by itself', { ...web, refusal }],
    ['web, the provider obeys a `Retry-After` of 10 min', { ...web, retryAfter: { delay: 600 } }],
    [
      'web, it obeys one of 5 to 15 min, spread evenly',
      { ...web, retryAfter: { delay: 600, jitter: 0.5 } },
    ],
    ['queue, refused by a proxy', queue],
    ['queue of at most 10 million jobs, refused by a proxy', { ...queue, queueLimit: 10_000_000 }],
    ['web, half as many machines again', { accepts: Math.floor(web.accepts * 1.5) }],
  ];
  const chosen = SCHEDULES.filter(({ name }) => ['three', 'minutes', 'doubling'].includes(name));
  const rows = cases.map(([title, capacity]) => [
    title,
    ...chosen.flatMap((schedule) => {
      const { lostLater, drained } = storm(schedule, capacity);
      // If the storm never ends, the sum covers only the simulated time.
      return drained === null ? ['without end', 'never'] : [millions(lostLater), minutes(drained)];
    }),
  ]);
  const head = chosen.flatMap(({ label }) => [
    `${label.replace(/:.*|,.*/, '')}: lost after it`,
    'until nothing waits',
  ]);
  return markdown(['', ...head], rows);
}
