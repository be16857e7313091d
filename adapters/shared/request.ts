/** Returns path and query of an absolute or relative address, as sent: the `Host` header can hold anything. */
export function toPath(url: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*([^#]*)/i.exec(url)?.[1] ?? url;
}
