import * as vega from 'vega';
import { compile } from 'vega-lite';
import { CONFIG } from './style.mjs';

/** Draws a Vega-Lite chart. The same chart gives the same bytes. */
export async function toSvg(chart) {
  // Vega's numbering continues through all charts of a process.
  vega.resetSVGDefIds();
  const { spec } = compile({ ...chart, config: CONFIG });
  const view = new vega.View(vega.parse(spec), { renderer: 'none', logLevel: vega.Warn });
  const svg = await view.toSVG();
  const { text, subtitle } = chart.title;
  // One text describes the chart, instead of a role and a label for each line and point.
  const title = `<title>${escaped(`${text}. ${subtitle}`)}</title>`;
  return `${svg.replace(/ (role|aria-\w+)="[^"]*"/g, '').replace(/(?<=^<svg[^>]*>)/, title)}\n`;
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
