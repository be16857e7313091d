import { COLOURS } from './style.mjs';

const OUTCOMES = [
  'handled',
  'duplicate',
  'ignored',
  'parked',
  'rejected',
  'failed',
  'busy',
  'unavailable',
];
const OUTCOME_COLOURS = [
  '#009e73',
  '#56b4e9',
  '#bbbbbb',
  '#cc79a7',
  '#e69f00',
  '#d55e00',
  '#f0e442',
  '#000000',
];
const WIDTH = 430;

/** Draws what a receiver's metrics show, in one picture. */
export function dashboardChart({ conditions, samples }) {
  const seconds = {
    field: 'second',
    type: 'quantitative',
    title: 'seconds',
    scale: { nice: false },
  };
  const panel = (text, chart) => ({
    title: { text, fontSize: 12, offset: 6 },
    width: WIDTH,
    height: 150,
    ...chart,
  });
  const lines = (text, key) =>
    panel(text, {
      data: { values: quantilesOf(samples, key) },
      mark: { type: 'line', strokeWidth: 1.5, clip: true },
      encoding: {
        x: seconds,
        y: {
          field: 'ms',
          type: 'quantitative',
          title: 'ms, logarithmic',
          scale: { type: 'log', domain: [0.05, 1000], nice: false },
          axis: { values: [0.1, 1, 10, 100, 1000], format: ',' },
        },
        color: { field: 'name', type: 'nominal', title: null, scale: { range: COLOURS } },
        strokeDash: {
          field: 'quantile',
          type: 'nominal',
          title: null,
          scale: {
            range: [
              [1, 0],
              [3, 3],
            ],
          },
        },
      },
    });
  return {
    title: {
      text: 'A receiver, watched',
      subtitle:
        `A real run of ${conditions.seconds} s: a handler's dependency is down from ${span(conditions.broken)}, ` +
        `and four times as much comes from ${span(conditions.rush)}.`,
    },
    spacing: 30,
    resolve: { scale: { color: 'independent', strokeDash: 'independent' } },
    vconcat: [
      row([
        panel('Deliveries a second, by outcome', {
          data: { values: outcomesOf(samples) },
          mark: { type: 'area', interpolate: 'step-after' },
          encoding: {
            x: seconds,
            y: { field: 'count', type: 'quantitative', title: null, stack: 'zero' },
            color: {
              field: 'outcome',
              type: 'nominal',
              title: null,
              scale: { domain: OUTCOMES, range: OUTCOME_COLOURS },
            },
            order: { field: 'order' },
          },
        }),
        panel('Waiting for review', {
          data: { values: waitingOf(samples) },
          mark: { type: 'line', interpolate: 'step-after', strokeWidth: 2 },
          encoding: {
            x: seconds,
            y: { field: 'count', type: 'quantitative', title: 'deliveries' },
            color: {
              field: 'state',
              type: 'nominal',
              title: null,
              scale: { range: ['#cc79a7', '#d55e00'] },
            },
          },
        }),
      ]),
      row([
        lines('From request to outcome, by event, over the last 10 s', 'durations'),
        lines('Handlers, over the last 10 s', 'handlers'),
      ]),
    ],
  };
}

function row(hconcat) {
  return {
    spacing: 40,
    resolve: { scale: { color: 'independent', strokeDash: 'independent' } },
    hconcat,
  };
}

function span({ from, to }) {
  return `${from} to ${to} s`;
}

function outcomesOf(samples) {
  const seen = OUTCOMES.filter((outcome) => samples.some(({ outcomes }) => outcomes[outcome]));
  return samples.flatMap(({ second, outcomes }) =>
    seen.map((outcome, order) => ({ second, outcome, order, count: outcomes[outcome] ?? 0 })),
  );
}

function waitingOf(samples) {
  return samples.flatMap(({ second, dead, stalled }) => [
    { second, state: 'dead', count: dead },
    { second, state: 'stalled', count: stalled },
  ]);
}

function quantilesOf(samples, key) {
  return samples.flatMap((sample) =>
    Object.entries(sample[key]).flatMap(([name, { p50, p99 }]) => [
      { second: sample.second, name, quantile: 'p50', ms: p50 },
      { second: sample.second, name, quantile: 'p99', ms: p99 },
    ]),
  );
}
