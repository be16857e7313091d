/**
 * Returns the file that holds this code, as a path or a `file:` URL, to find packages beside it. In CommonJS that a
 * bundler made, no URL is known, and under jsdom, it is that of the document.
 */
export function ownFile(): string {
  const url: string | undefined = import.meta.url;
  return url?.startsWith('file:') ? url : __filename;
}
