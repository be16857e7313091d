import type { RecoveredOutcome } from 'storefront-webhooks/recovery';
import { ACTS, type Drill, HOURS } from './story.js';

const WIDTH = 720;
const HEIGHT = 300;
const LEFT = 44;
const TOP = 56;
const RIGHT = WIDTH - 12;
const BOTTOM = HEIGHT - 34;

/** Returns a drawing of the three days: paid and delivered orders. Equal drills give equal drawings. */
export function drawDrill(drill: Drill): string {
  const { points, paid, disabledAt, recoveredAt } = drill;
  const x = (hour: number) => round(LEFT + (hour / HOURS) * (RIGHT - LEFT));
  const y = (count: number) => round(BOTTOM - (count / Math.max(paid, 1)) * (BOTTOM - TOP));
  const bands = [
    ...ACTS.map(({ name, from, to }) => ({ name, from, to })),
    ...(disabledAt === undefined
      ? []
      : [{ name: 'the endpoint is disabled', from: disabledAt, to: recoveredAt }]),
  ];
  const path = (read: 'paid' | 'delivered') =>
    points
      .map((point, at) =>
        at === 0 ? `M${x(point.hour)} ${y(point[read])}` : `H${x(point.hour)}V${y(point[read])}`,
      )
      .join('');
  const days = [0, 24, 48, 72];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${sentence(drill)}" font-family="system-ui, sans-serif" font-size="11">
<style>
text{fill:#444}.band{fill:#b45309;opacity:.13}.paid{fill:none;stroke:#888;stroke-width:1.5;stroke-dasharray:4 3}.delivered{fill:none;stroke:#15803d;stroke-width:2.5}.axis{stroke:#999;stroke-width:.5}
@media (prefers-color-scheme:dark){text{fill:#ccc}.band{fill:#f59e0b;opacity:.18}.delivered{stroke:#4ade80}}
</style>
${bands
  .map(
    ({ name, from, to }, at) =>
      `<rect class="band" x="${x(from)}" y="${TOP}" width="${round(x(to) - x(from))}" height="${BOTTOM - TOP}"/><text x="${x(from)}" y="${TOP - 6 - (at % 3) * 15}">${name}</text>`,
  )
  .join('\n')}
${days.map((hour) => `<line class="axis" x1="${x(hour)}" y1="${TOP}" x2="${x(hour)}" y2="${BOTTOM}"/><text x="${x(hour)}" y="${BOTTOM + 14}" text-anchor="${hour === HOURS ? 'end' : 'start'}">${hour} h</text>`).join('\n')}
<text x="${LEFT - 6}" y="${y(paid) + 4}" text-anchor="end">${paid}</text><text x="${LEFT - 6}" y="${BOTTOM}" text-anchor="end">0</text>
<path class="delivered" d="${path('delivered')}"/>
<path class="paid" d="${path('paid')}"/>
<text x="${x(recoveredAt) + 4}" y="${BOTTOM - 6}">recovery</text>
<text x="${LEFT}" y="${HEIGHT - 4}">dashed: paid · green: delivered · ${sentence(drill)}</text>
</svg>
`;
}

/** Returns a self-contained HTML page. */
export function toPage(drill: Drill): string {
  const { recovery, missingBefore } = drill;
  const reasons = new Map<string, number>();
  for (const { reason } of recovery.deliveries) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  const ended = (...outcomes: readonly RecoveredOutcome[]) =>
    recovery.deliveries.filter(({ outcome }) => outcomes.includes(outcome)).length;
  const done = ended('handled');
  const doneBefore = ended('duplicate', 'settled');
  const rows = [
    ['missing before recovery', missingBefore],
    ...[...reasons].sort().map(([reason, count]) => [`reason: ${reason}`, count] as const),
    ['done now', done],
    ['done before', doneBefore],
    ['left', recovery.deliveries.length - done - doneBefore],
    ['the endpoint', recovery.endpoint],
    ['findings of reconcile at the end', drill.reconciliation.findings.length],
  ] as const;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Three days of a shop</title>
<style>
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}
h1,h2{line-height:1.2}
figure{margin:0;overflow-x:auto}
svg{display:block;width:100%;min-width:40rem;height:auto}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.3rem .5rem;border-bottom:1px solid #8884;font-weight:normal}
td{text-align:right;font-variant-numeric:tabular-nums}
strong{font-size:1.25rem}
</style>
</head>
<body>
<main>
<h1>Three days of a shop</h1>
<p><strong>${sentence(drill)}</strong></p>
<figure tabindex="0" aria-label="Paid and delivered over three days">
${drawDrill(drill)}</figure>
<h2>What recovery found</h2>
<table>
${rows.map(([name, value]) => `<tr><th scope="row">${name}</th><td>${value}</td></tr>`).join('\n')}
</table>
</main>
</body>
</html>
`;
}

/** Returns the result of a drill as one sentence. */
export function sentence({ paid, once, missing, twice }: Drill): string {
  return `${paid} paid, ${once} delivered once, ${missing} missing, ${twice} twice`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
