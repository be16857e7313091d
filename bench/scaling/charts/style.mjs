import { SCHEDULES } from '../schedules.mjs';

// Colours that colour-blind readers can tell apart (Okabe and Ito).
export const COLOURS = [
  '#d55e00',
  '#0072b2',
  '#009e73',
  '#cc79a7',
  '#e69f00',
  '#56b4e9',
  '#555555',
];

export const CONFIG = {
  background: 'white',
  font: 'Helvetica, Arial, sans-serif',
  view: { stroke: null },
  axis: { labelFontSize: 11, titleFontSize: 11, titleFontWeight: 'normal', gridColor: '#e8e8e8' },
  legend: { labelFontSize: 11, titleFontSize: 11, titleFontWeight: 'normal', labelLimit: 300 },
  title: { fontSize: 13, subtitleFontSize: 11, subtitleColor: '#555', anchor: 'start', offset: 12 },
};

/** The colour of each retry schedule, the same in all plots. */
export const bySchedule = {
  field: 'schedule',
  type: 'nominal',
  title: 'the provider retries',
  scale: { domain: SCHEDULES.map(({ label }) => label), range: COLOURS.slice(0, SCHEDULES.length) },
  legend: { orient: 'bottom', columns: 2, symbolType: 'stroke', symbolStrokeWidth: 3 },
};
