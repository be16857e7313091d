/** Formats a number to two significant digits, with separators. */
export function about(value) {
  if (value === null || value === undefined) return '–';
  if (value === 0) return '0';
  if (value >= 100) return Math.round(Number(value.toPrecision(3))).toLocaleString('en');
  return String(Number(value.toPrecision(2)));
}

export function bytes(value) {
  const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(value) / 3)));
  return `${about(value / 1000 ** power)} ${units[power]}`;
}

export function millions(count) {
  return count < 100_000 ? about(count) : `${about(count / 1e6)} million`;
}

export function minutes(seconds) {
  if (seconds === null) return 'never';
  const rounded = Math.ceil(seconds / 60);
  return rounded < 120 ? `${rounded} min` : `${Number((rounded / 60).toFixed(1))} h`;
}

export function markdown(head, rows) {
  const lines = [head, head.map((_, column) => (column === 0 ? '---' : '---:')), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
