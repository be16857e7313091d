import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the anchors of a page: named anchors, and those of headings. */
function anchorsOf(page: string): string[] {
  const file = join('docs', page);
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const named = Array.from(text.matchAll(/<a id="([^"]+)">/g), ([, id = '']) => id);
  const headings = Array.from(text.matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return [...named, ...headings];
}

/** Returns the places, such as `errors.md#secret_invalid`, that do not exist. */
export function missing(places: readonly string[]): string[] {
  return places.filter((place) => {
    const [page = '', anchor = ''] = place.split('#');
    return !anchorsOf(page).includes(anchor);
  });
}

/** The link at the end of a message. */
export const placeOf = (message = '') =>
  / See node_modules\/storefront-webhooks\/docs\/([\w-]+\.md#[\w-]+)$/.exec(message)?.[1];
