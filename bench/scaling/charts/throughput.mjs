import { COLOURS } from './style.mjs';

const NAMES = {
  http: ['HTTP, with the memory store', 'receive'],
  receive: ['receive() alone', 'receive'],
  memory: ['memory: claim and complete', 'store'],
  sqlite: ['SQLite: claim and complete', 'store'],
  postgres: ['PostgreSQL: claim and complete', 'store'],
  redis: ['Redis: claim and complete', 'store'],
  'bullmq enqueue': ['BullMQ: add', 'queue'],
  'bullmq drain': ['BullMQ: work off', 'queue'],
  'pg-boss enqueue': ['pg-boss: send', 'queue'],
  'pg-boss drain': ['pg-boss: work off', 'queue'],
};
const RATES = [1, 100, 10_000];

/** Draws what one process did a second, with its server on the same machine. */
export function throughputChart({ conditions, costs }) {
  const values = Object.entries(NAMES).map(([id, [name, kind]]) => {
    const { perSecond } = costs[id];
    return { name, kind, perSecond, text: Math.round(perSecond).toLocaleString('en') };
  });
  const x = {
    field: 'perSecond',
    type: 'quantitative',
    title: 'deliveries a second, logarithmic',
    scale: { type: 'log', domain: [0.5, 1_000_000], nice: false },
    axis: {
      values: [1, 10, 100, 1000, 10_000, 100_000, 1_000_000],
      format: ',',
      grid: false,
      labelFlush: false,
      labelBound: false,
      labelOverlap: false,
    },
  };
  const y = { field: 'name', type: 'nominal', sort: null, title: null, axis: { labelLimit: 400 } };
  const { cores, node, date } = conditions;
  return {
    title: {
      text: 'Throughput of one process, measured',
      subtitle: `${cores} cores shared with the server, Node ${node}, ${date}. Dashed: 1, 100 and 10,000 a second.`,
    },
    width: 520,
    height: { step: 24 },
    layer: [
      {
        data: { values },
        mark: { type: 'bar', height: 14 },
        encoding: {
          // A logarithmic scale has no zero where a bar could begin.
          x,
          x2: { datum: 0.5 },
          y,
          color: {
            field: 'kind',
            type: 'nominal',
            title: null,
            scale: { domain: ['receive', 'store', 'queue'], range: COLOURS.slice(1, 4) },
            legend: { orient: 'bottom' },
          },
        },
      },
      {
        data: { values },
        mark: { type: 'text', align: 'left', dx: 4, fontSize: 11 },
        encoding: { x, y, text: { field: 'text', type: 'nominal' } },
      },
      {
        data: { values: RATES.map((perSecond) => ({ perSecond })) },
        mark: { type: 'rule', strokeDash: [4, 3], color: '#333' },
        encoding: { x },
      },
    ],
  };
}
