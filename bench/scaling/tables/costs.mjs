import { about, bytes, markdown } from '../numbers.mjs';
import { ASSUMED } from '../scenarios.mjs';

/** The size of a completed delivery: line 10 of docs/chaos.md. */
const ROW_BYTES = { sqlite: 898, postgres: 363, redis: 185 };
const DAY = 86_400;
const RATES = [1, 100, 10_000, 1_000_000];
const NAMES = {
  http: 'HTTP to answer, with the memory store',
  receive: '`receive()` alone, with the memory store',
  memory: 'memory: claim and complete',
  sqlite: 'SQLite: claim and complete',
  postgres: 'PostgreSQL: claim and complete',
  redis: 'Redis: claim and complete',
  'bullmq enqueue': 'BullMQ: add a job',
  'bullmq drain': 'BullMQ: take a job and finish it',
  'pg-boss enqueue': 'pg-boss: send a job',
  'pg-boss drain': 'pg-boss: take a job and finish it',
};

export function costsTable(conditions, costs) {
  const rows = Object.entries(NAMES).map(([name, title]) => {
    const { perSecond, clientMicros, serverMicros } = costs[name];
    return [title, about(perSecond), about(clientMicros), about(serverMicros)];
  });
  const { date, load, cores, memoryGb, node, postgres, redis, syncsPerSecond, seconds, inFlight } =
    conditions;
  return [
    markdown(['what', 'a second', 'CPU of the process, µs', 'CPU of the server, µs'], rows),
    '',
    `\`${date}, ${cores} cores, load before ${load}, ${memoryGb} GB, Node ${node} (SQLite, pg-boss: Node 24), PostgreSQL ${postgres}, ` +
      `through 10 connections, Redis ${redis} with appendfsync always, ${syncsPerSecond} syncs of the disk a second, ${seconds} s each, ${inFlight} in flight, 1 KB bodies\``,
  ].join('\n');
}

export function keepingTable() {
  const perDay = [
    ...RATES.map((rate) => [rate, 'a day', rate]),
    ...RATES.map((rate) => [rate, 'a second', rate * DAY]),
  ];
  const rows = perDay.map(([rate, unit, day]) => [
    `${rate.toLocaleString('en')} ${unit}`,
    about(day / DAY),
    about(unit === 'a day' ? (10 * day) / DAY : rate),
    ...['sqlite', 'postgres', 'redis'].map((store) => bytes(30 * day * ROW_BYTES[store])),
    bytes(7 * day * ROW_BYTES.redis),
  ]);
  const head = [
    'deliveries',
    'mean a second',
    'to plan for',
    'SQLite, 30 days',
    'PostgreSQL, 30 days',
    'Redis, 30 days',
    'Redis, 7 days',
  ];
  return markdown(head, rows);
}

export function saturationTable(costs) {
  const core = (...names) => 1e6 / names.reduce((sum, name) => sum + costs[name].serverMicros, 0);
  const web = (store) => 1e6 / (costs.http.clientMicros + costs[store].clientMicros);
  const { perSecond: sqlite } = costs.sqlite;
  const row = (title, limit, unit) => [
    title,
    about(limit),
    unit,
    ...[100, 10_000, 1_000_000].map((rate) => about(Math.ceil(rate / (limit / 2)))),
  ];
  return markdown(
    ['', 'limit of one, a second', 'one', 'for 100 a second', 'for 10,000', 'for 1,000,000'],
    [
      row('web process with PostgreSQL, without its handlers', web('postgres'), 'core'),
      row('web process with Redis, without its handlers', web('redis'), 'core'),
      ['SQLite', about(sqlite), 'machine', '1', sqlite / 2 >= 10_000 ? '1' : 'no', 'no'],
      row('PostgreSQL as the store', core('postgres'), 'core of its server'),
      row('Redis as the store', core('redis'), 'server'),
      row('BullMQ', core('bullmq enqueue', 'bullmq drain'), 'Redis server'),
      row('pg-boss', core('pg-boss enqueue', 'pg-boss drain'), 'core of its server'),
    ],
  );
}

export function backlogTable(costs) {
  const rows = [1, 100, 10_000].map((rate) => {
    const jobs = rate * ASSUMED.outage;
    const size = (queue) => bytes(jobs * costs[`${queue} enqueue`].jobBytes);
    return [
      `${rate.toLocaleString('en')} a second`,
      jobs.toLocaleString('en'),
      size('bullmq'),
      size('pg-boss'),
    ];
  });
  return markdown(['', 'jobs in an hour', 'BullMQ, of memory', 'pg-boss, of disk'], rows);
}
