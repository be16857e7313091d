import { readdirSync, readFileSync } from 'node:fs';

/** A page for users, by its path in the repository. */
export interface Page {
  readonly path: string;
  readonly text: string;
  /** A command generates the page, so its length depends on its content. */
  readonly isGenerated: boolean;
}

const GENERATED = /^docs\/(api\/|evidence|options)/;

export const PAGES: readonly Page[] = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'examples/README.md',
  ...readdirSync('docs', { encoding: 'utf8', recursive: true })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
].map((path) => ({
  path,
  text: readFileSync(path, 'utf8'),
  isGenerated: GENERATED.test(path),
}));

export function pageAt(path: string): Page {
  const page = PAGES.find((each) => each.path === path);
  if (!page) throw new Error(`There is no page ${path}.`);
  return page;
}

/** The code of a page's blocks in a language. */
export function blocks({ text }: Page, language: string): string[] {
  const fence = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms');
  return Array.from(text.matchAll(fence), ([, code = '']) => code);
}

/** The text of a page without its code blocks. */
export function prose({ text }: Page): string {
  return text.replace(/^```.*?^```$/gms, '');
}

/** The anchors of a page, as GitHub and GitLab make them. */
export function anchors(page: Page): string[] {
  const named = Array.from(page.text.matchAll(/<a (?:id|name)="([^"]+)"/g), ([, id = '']) => id);
  const counts = new Map<string, number>();
  const headings = Array.from(prose(page).matchAll(/^#+ (.*)$/gm), ([, heading = '']) => {
    const anchor = heading
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[^\p{L}\p{N}\- _]/gu, '')
      .replaceAll(' ', '-');
    const before = counts.get(anchor) ?? 0;
    counts.set(anchor, before + 1);
    return before === 0 ? anchor : `${anchor}-${before}`;
  });
  return [...headings, ...named];
}
