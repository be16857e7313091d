import stringWidth from 'string-width';

/** Wraps a text after its label into lines of `columns` columns. Further lines begin below the text. */
export function textLines(label: string, text: string, columns: number): string[] {
  const room = roomBeside(label, columns);
  const words = text.split(' ').flatMap((word) => pieces(word, room));
  return below(label, fill(words, room, ''));
}

/** Wraps a command after its label, with a backslash at each line end, so that it can be copied. Words stay whole. */
export function commandLines(label: string, command: string, columns: number): string[] {
  const room = roomBeside(label, columns);
  return below(label, fill(command.match(SHELL_WORD) ?? [], room, ' \\'));
}

const SHELL_WORD = /(?:\\.|'[^']*'|[^\s'\\])+/g;

/** The fewest columns that are left beside a label. */
const MIN_ROOM = 20;

function roomBeside(label: string, columns: number): number {
  return Math.max(MIN_ROOM, columns - stringWidth(label));
}

function below(label: string, [first = '', ...others]: readonly string[]): string[] {
  return [`${label}${first}`, ...others.map((line) => ' '.repeat(stringWidth(label)) + line)];
}

/** Puts as many words into each line as fit, and `joint` at the end of each line but the last. */
function fill(words: readonly string[], room: number, joint: string): string[] {
  const lines: string[] = [];
  for (const [index, word] of words.entries()) {
    const line = lines.at(-1);
    const end = index === words.length - 1 ? '' : joint;
    if (line !== undefined && stringWidth(`${line} ${word}${end}`) <= room) {
      lines[lines.length - 1] = `${line} ${word}`;
    } else lines.push(word);
  }
  return lines.map((line, index) => (index === lines.length - 1 ? line : line + joint));
}

/** Splits a word that is wider than a line. */
function pieces(word: string, room: number): string[] {
  if (stringWidth(word) <= room) return [word];
  const found = [''];
  for (const { segment } of new Intl.Segmenter().segment(word)) {
    const last = found.at(-1) ?? '';
    if (stringWidth(last + segment) <= room) found[found.length - 1] = last + segment;
    else found.push(segment);
  }
  return found;
}
