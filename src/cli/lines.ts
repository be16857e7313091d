import stringWidth from 'string-width';

/** A text with its label, in lines of so many columns: what goes on stands below where it began. */
export function textLines(label: string, text: string, columns: number): string[] {
  const room = roomBeside(label, columns);
  const words = text.split(' ').flatMap((word) => pieces(word, room));
  return below(label, fill(words, room, ''));
}

/** A command with its label, broken as a shell takes it, so that it can be copied. A long word stays whole. */
export function commandLines(label: string, command: string, columns: number): string[] {
  const room = roomBeside(label, columns);
  return below(label, fill(command.match(SHELL_WORD) ?? [], room, ' \\'));
}

const SHELL_WORD = /(?:\\.|'[^']*'|[^\s'\\])+/g;

/** So much is left of a line at the least. */
const MIN_ROOM = 20;

function roomBeside(label: string, columns: number): number {
  return Math.max(MIN_ROOM, columns - stringWidth(label));
}

function below(label: string, [first = '', ...others]: readonly string[]): string[] {
  return [`${label}${first}`, ...others.map((line) => ' '.repeat(stringWidth(label)) + line)];
}

/** As many words in each line as have room, and at the end of each but the last what joins them. */
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

/** A word that is wider than a line, in pieces that are not. */
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
