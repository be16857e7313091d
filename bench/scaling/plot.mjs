/**
 * Draws docs/plots/*.svg, and writes the tables of docs/scaling.md and similar pages. Reads
 * docs/plots/costs.json and docs/plots/metrics.json, and does not change them. The same input gives the same
 * bytes.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { backlogChart } from './charts/backlog.mjs';
import { dashboardChart } from './charts/dashboard.mjs';
import { drainChart } from './charts/drain.mjs';
import { toSvg } from './charts/svg.mjs';
import { throughputChart } from './charts/throughput.mjs';
import { fill } from './markers.mjs';
import { capacities, storms } from './scenarios.mjs';
import { tables } from './tables.mjs';

const docs = new URL('../../docs/', import.meta.url);
const measured = readJson('plots/costs.json');
const allStorms = storms(measured.costs);

const charts = {
  throughput: throughputChart(measured),
  backlog: backlogChart(allStorms),
  drain: drainChart(capacities()),
  dashboard: dashboardChart(readJson('plots/metrics.json')),
};
for (const [name, chart] of Object.entries(charts)) {
  writeFileSync(new URL(`plots/${name}.svg`, docs), await toSvg(chart));
}

const pages = ['scaling.md', 'performance.md', 'outage.md'].map((page) => new URL(page, docs));
const texts = pages.map((page) => readFileSync(page, 'utf8'));
const filled = fill(texts, tables(measured, allStorms));
for (const [at, page] of pages.entries()) writeFileSync(page, filled[at]);

function readJson(path) {
  return JSON.parse(readFileSync(new URL(path, docs), 'utf8'));
}
