import { DataPointType, type MetricData } from '@opentelemetry/sdk-metrics';
import { expect, test } from 'vitest';
import { traced } from '../opentelemetry/collected.js';
import { deliver, paidOrder } from '../support/deliver.js';
import { blocks, PAGES } from './pages.js';

/** A series by its labels. Its name is the label `__name__`, as in Prometheus. */
type Series = Readonly<Record<string, string>>;

const SUFFIXES: Readonly<Record<string, string>> = { s: '_seconds' };

/** The series that an exporter for Prometheus prints of a metric. Some exporters add the unit to the name. */
function toSeries(
  { descriptor, dataPointType, dataPoints }: MetricData,
  hasUnit: boolean,
): Series[] {
  const { name, unit } = descriptor;
  // A unit in braces is a comment, and never in a name.
  const suffix = hasUnit && !unit.startsWith('{') ? (SUFFIXES[unit] ?? `_${unit}`) : '';
  const ends = { [DataPointType.SUM]: ['_total'], [DataPointType.GAUGE]: [''] };
  const parts = ends[dataPointType as keyof typeof ends] ?? ['_bucket', '_count', '_sum'];
  return dataPoints.flatMap(({ attributes }) => {
    const labels = Object.entries(attributes).map(([key, value]) => [toLabel(key), String(value)]);
    return parts.map((part) => ({
      ...Object.fromEntries(labels),
      __name__: toLabel(name) + suffix + part,
    }));
  });
}

/** Prometheus has no dots in names. */
const toLabel = (name: string) => name.replaceAll('.', '_');

/** The selectors of an expression, and the names that stand without one. */
function selectors(expression: string): string[] {
  const asked = expression.replaceAll(/\bby \([^)]*\)/g, '');
  return Array.from(asked.matchAll(/\w*\{[^}]*\}|\bstorefront_webhooks\w*/g), ([text]) => text);
}

function selects(selector: string, series: Series): boolean {
  const [name = '', labels = ''] = selector.split(/[{}]/);
  const wanted = labels.matchAll(/(\w+)(=~?)"([^"]*)"/g);
  const matches = Array.from(wanted, ([, label = '', operator, value = '']) => {
    const actual = series[label] ?? '';
    return operator === '=' ? actual === value : new RegExp(`^(?:${value})$`).test(actual);
  });
  return (name === '' || name === series.__name__) && !matches.includes(false);
}

test.each([
  ['with the unit', true],
  ['without a unit', false],
])('the alerts of the pages ask for series that an exporter prints %s', async (_, hasUnit) => {
  const { receiver, metrics } = traced();
  let fails = true;
  receiver.onPaid(() => {
    if (fails) throw new Error('no');
  });
  await deliver(receiver, paidOrder());
  fails = false;
  await deliver(receiver, paidOrder());
  const printed = (await metrics()).flatMap((metric) => toSeries(metric, hasUnit));
  const asked = PAGES.flatMap((page) => blocks(page, 'yaml')).flatMap((rules) =>
    Array.from(rules.matchAll(/^ *expr: (.*)$/gm), ([, expression = '']) => expression),
  );
  expect(asked.length).toBeGreaterThan(2);
  const absent = asked
    .flatMap(selectors)
    .filter((selector) => !printed.some((series) => selects(selector, series)));
  expect(absent).toEqual([]);
});
