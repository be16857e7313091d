/** One box of the path: a step, and the answers that end the path there. */
interface Step {
  readonly title: string;
  readonly lines: readonly string[];
  readonly leaves: readonly string[];
}

export const STEPS: readonly Step[] = [
  {
    title: 'Read',
    lines: ['POST, within a limit', 'the bytes as sent'],
    leaves: ['405', '408', '413', '415'],
  },
  { title: 'Verify', lines: ['HMAC-SHA512', 'in constant time'], leaves: ['401 rejected'] },
  {
    title: 'Type',
    lines: ['event, schema', 'status, key'],
    leaves: ['400, 422 rejected', '200 ignored'],
  },
  {
    title: 'Claim',
    lines: ['in the store', 'lease and fence'],
    leaves: ['200 duplicate', '503 busy, unavailable'],
  },
  {
    title: 'Handle',
    lines: ['your handlers', 'each one once'],
    leaves: ['500 failed', '200 parked'],
  },
  { title: 'Record', lines: ['what is done', 'durably'], leaves: [] },
];

const [WIDTH, BOX, GAP, TOP, HEIGHT] = [960, 136, 24, 66, 74];
const left = (at: number) => 12 + at * (BOX + GAP);
const text = (x: number, y: number, kind: string, words: string) =>
  `<text x="${x}" y="${y}" class="${kind}">${words}</text>`;
const line = (x1: number, y1: number, x2: number, y2: number, kind: string) =>
  `<path d="M${x1} ${y1}L${x2} ${y2}" class="${kind}" marker-end="url(#${kind})"/>`;
const arrowHead = (kind: string) =>
  `<marker id="${kind}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" class="head-${kind}"/></marker>`;

/** Draws docs/delivery.svg: the path of a delivery from the request to its answer. */
export function drawDelivery(): string {
  const middle = TOP + HEIGHT / 2;
  const boxes = STEPS.map(({ title, lines, leaves }, at) => {
    const x = left(at);
    const centre = x + BOX / 2;
    return [
      `<rect x="${x}" y="${TOP}" width="${BOX}" height="${HEIGHT}" rx="8" class="box${at < 2 ? ' unproven' : ''}"/>`,
      text(centre, TOP + 26, 'title', title),
      ...lines.map((words, row) => text(centre, TOP + 46 + row * 17, 'words', words)),
      ...(at + 1 < STEPS.length ? [line(x + BOX, middle, x + BOX + GAP - 2, middle, 'on')] : []),
      ...(leaves.length > 0 ? [line(centre, TOP + HEIGHT, centre, TOP + HEIGHT + 26, 'off')] : []),
      ...(leaves[0] === '405'
        ? [text(centre, TOP + HEIGHT + 46, 'leaves', leaves.join(', '))]
        : leaves.map((words, row) => text(centre, TOP + HEIGHT + 46 + row * 18, 'leaves', words))),
    ].join('\n');
  });
  const last = left(STEPS.length - 1) + BOX / 2;
  const border = left(2) - GAP / 2;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH + 12}" height="236" viewBox="0 0 ${WIDTH + 12} 236" font-family="system-ui, sans-serif" text-anchor="middle"><title>The path of a delivery: ${STEPS.map(({ title }) => title.toLowerCase()).join(', ')}, and 200 handled. Nothing is stored or run before the signature holds.</title>
<style>
svg { color-scheme: light dark; --ink: #1d2125; --soft: #5b6168; --line: #b9b6ae; --fill: #f6f5f2; --good: #1d6b3a; --bad: #9a3324; }
@media (prefers-color-scheme: dark) { svg { --ink: #e8e8e5; --soft: #a5abb2; --line: #5a6067; --fill: #1f2226; --good: #84d6a0; --bad: #f0a08f; } }
.box { fill: var(--fill); stroke: var(--line); } .unproven { stroke-dasharray: 5 4; }
.title { fill: var(--ink); font-size: 17px; font-weight: 600; } .words { fill: var(--soft); font-size: 13px; }
.leaves { fill: var(--bad); font-size: 13px; } .good { fill: var(--good); font-size: 15px; font-weight: 600; }
.note { fill: var(--soft); font-size: 14px; }
.on { stroke: var(--ink); fill: none; } .off { stroke: var(--bad); fill: none; } .done { stroke: var(--good); fill: none; }
.head-on { fill: var(--ink); } .head-off { fill: var(--bad); } .head-done { fill: var(--good); }
.border { stroke: var(--soft); stroke-dasharray: 2 4; fill: none; }
</style>
<defs>${['on', 'off', 'done'].map(arrowHead).join('')}</defs>
${text(border / 2, 34, 'note', 'unproven: nothing is stored, nothing runs')}
${text((border + WIDTH) / 2, 34, 'note', 'genuine: answered 2xx once the work is done, or durably stored')}
<path d="M${border} 14V222" class="border"/>
${boxes.join('\n')}
${line(last, TOP + HEIGHT, last, TOP + HEIGHT + 26, 'done')}
${text(last, TOP + HEIGHT + 47, 'good', '200 handled')}
</svg>
`;
}
