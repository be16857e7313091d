/**
 * Parses an address that a customer may be sent to. Returns `undefined` for any other, such as one that begins
 * with `javascript:`.
 */
export function toLink(address: string | null | undefined): URL | undefined {
  if (!address || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  // A host can contain characters that would end a source in a Content-Security-Policy, so they are excluded.
  return /^https?:\/\/[\w.:[\]-]+$/.test(url.origin) ? url : undefined;
}
