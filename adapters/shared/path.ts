/** Path and query of an address, whole or not, as they were sent: `Host` may be anything or nothing. */
export function toPath(url: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*([^#]*)/i.exec(url)?.[1] ?? url;
}
