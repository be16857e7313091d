import type { Unknowns } from '../unknowns.js';

/** Returns the options for curl that send a key by the scheme of the variant, which every sandbox accepts. */
export function curlCredentials({ variant }: Unknowns, key: string): string {
  const credentials =
    variant === 'older' ? `me@example.com:${key}` : `Authorization: Bearer ${key}`;
  return `${variant === 'older' ? '-u' : '-H'} '${credentials.replaceAll("'", "'\\''")}'`;
}
