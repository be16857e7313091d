import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { UsageError } from 'storefront-webhooks';
import { isLoopback, parseAddress } from '../../runtime/address.js';

const NEAR = new BlockList();
for (const [network, bits] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
] as const) {
  NEAR.addSubnet(network, bits, 'ipv4');
}
for (const [network, bits] of [
  ['::1', 128],
  ['fc00::', 7],
  ['fe80::', 10],
] as const) {
  NEAR.addSubnet(network, bits, 'ipv6');
}

/**
 * Parses the address of an endpoint.
 *
 * @throws {UsageError} If it is not an HTTP or HTTPS URL.
 */
export function readUrl(text: string): URL {
  const url = parseAddress(text);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new UsageError(
    'target_invalid',
    `${text} is not an HTTP or HTTPS URL. Give one such as http://localhost:3000/webhooks.`,
  );
}

/** Whether an address is on this machine or a private network. All addresses of a host name have to be. */
export async function isNear(url: URL): Promise<boolean> {
  if (isLoopback(url)) return true;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const addresses = isIP(host)
    ? [host]
    : (await lookup(host, { all: true }).catch(() => [])).map(({ address }) => address);
  return (
    addresses.length > 0 &&
    addresses.every((address) => NEAR.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'))
  );
}
