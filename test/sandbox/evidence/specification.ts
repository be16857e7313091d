/** A section of the specification: the rows of its tables, and its sentences. */
export interface Section {
  readonly heading: string;
  /** The name of each table row. */
  readonly rows: readonly string[];
  readonly sentences: readonly string[];
}

/** Reads the specification, and joins sections that have the same heading. */
export function readSpecification(text: string): Section[] {
  const sections = new Map<string, { rows: string[]; sentences: string[] }>();
  let current = { rows: [] as string[], sentences: [] as string[] };
  for (const block of text.split(/\n\n+/)) {
    const [, heading] = /^#+ ([^(\n]+)/.exec(block) ?? [];
    if (heading !== undefined) {
      const name = heading.trim() === 'Endpoints' ? 'Rules for all endpoints' : heading.trim();
      current = sections.get(name) ?? { rows: [], sentences: [] };
      sections.set(name, current);
    } else if (block.startsWith('|')) current.rows.push(...readTable(block));
    else current.sentences.push(...readSentences(block));
  }
  return Array.from(sections, ([heading, section]) => ({ heading, ...section }));
}

function readTable(block: string): string[] {
  const [[first] = [], , ...rows] = block
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
    .map(([, ...cells]) => cells);
  return rows.map(([key = '', next = '']) => {
    if (first === 'Method') return `${key} ${next}`;
    return first === 'State' ? `${key}, ${next}` : key;
  });
}

function readSentences(block: string): string[] {
  return block
    .split('\n')
    .map((line) => line.replace(/^(- |\d+\. )/, ''))
    .flatMap((line) => line.split(/(?<=\.) (?=[A-Z`])/))
    .filter((sentence) => sentence !== '' && !sentence.endsWith(':'));
}
