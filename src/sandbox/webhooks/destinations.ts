import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { isLoopback } from '../../runtime/address.js';

/** The error of a webhook whose destination is not allowed, because the webhook could reach a private network. */
export class DestinationRefused extends Error {
  override readonly name = 'DestinationRefused';
}

/** IPv4 networks that are not the internet. The metadata services of clouds are in them. */
const NOT_PUBLIC = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  // Azure's platform service, whose address is in a public network.
  '168.63.129.16/32',
];

/** The IPv6 internet. Mapped and translated IPv4 addresses are outside of it. */
const PUBLIC_V6 = ['2000::/3'];

/** Networks in this range that are not the internet: tunnels to IPv4 addresses, documentation, benchmarks. */
const NOT_PUBLIC_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const notPublic = toList(NOT_PUBLIC, 'ipv4');
const publicV6 = toList(PUBLIC_V6, 'ipv6');
const notPublicV6 = toList(NOT_PUBLIC_V6, 'ipv6');

const THIS_MACHINE: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** Finds all addresses of a name, as `lookup` of `node:dns` does. */
export type LookupAll = (
  host: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void;

/** The destinations that webhooks may be sent to: HTTPS on the internet, and any HTTP or HTTPS on this machine. */
export class Destinations {
  readonly #allowed: ReadonlySet<string>;
  readonly #ask: LookupAll;

  /**
   * @param allowHosts - Hosts as in a URL, without a port. They are allowed at any address, and by plain HTTP.
   * @param ask - Resolves the name of a host. Default: the system.
   */
  constructor(allowHosts: readonly string[] = [], ask: LookupAll = lookup) {
    this.#allowed = new Set(allowHosts.map((host) => host.toLowerCase()));
    this.#ask = ask;
  }

  /** Returns whether a URL is HTTPS, or plain HTTP to a host that allows it. */
  takes(text: string): boolean {
    if (!URL.canParse(text) || /\s/.test(text)) return false;
    const url = new URL(text);
    // The webhook logs would show a password.
    if (url.username !== '' || url.password !== '') return false;
    return url.protocol === 'https:' || (url.protocol === 'http:' && this.#isTrusted(url));
  }

  /**
   * Parses a URL, and checks that webhooks may be sent to it. {@link Destinations.lookup} checks the addresses
   * of its host name.
   *
   * @throws {DestinationRefused}
   */
  check(text: string): URL {
    if (!URL.canParse(text)) throw new DestinationRefused('the URL is not valid');
    const url = new URL(text);
    if (url.protocol !== 'https:' && url.protocol !== 'http:') {
      throw new DestinationRefused('the URL is neither HTTPS nor HTTP');
    }
    if (this.#isTrusted(url)) return url;
    if (url.protocol === 'http:') {
      throw new DestinationRefused('plain HTTP is for this machine only');
    }
    const address = url.hostname.replace(/^\[|\]$/g, '');
    const refused = isIP(address) ? findPrivate(url.hostname, [{ address }]) : undefined;
    if (refused) throw refused;
    return url;
  }

  #isTrusted(url: URL): boolean {
    return isLoopback(url) || this.#allowed.has(url.hostname);
  }

  /**
   * Resolves a host for `node:net`, and checks its addresses. The connection uses one of the checked addresses,
   * so that a name which resolves to another address a moment later gains nothing.
   */
  readonly lookup: LookupFunction = (host, options, done) => {
    const give = (found: readonly LookupAddress[]) => {
      const [first] = found;
      if (options.all) done(null, [...found]);
      else done(null, first?.address ?? '', first?.family);
    };
    // The names of this machine are not resolved, because the resolver could return another address.
    if (isLoopback(new URL(`http://${host}`))) return give(THIS_MACHINE);
    this.#ask(host, { ...options, all: true }, (error, found) => {
      if (error) return done(error, '');
      const refused = this.#allowed.has(host) ? undefined : findPrivate(host, found);
      if (refused) return done(refused, '');
      give(found);
    });
  };
}

/** Returns an error if one of the addresses is private. A host with public and private addresses is suspicious. */
function findPrivate(
  host: string,
  addresses: readonly Pick<LookupAddress, 'address'>[],
): DestinationRefused | undefined {
  if (addresses.length > 0 && addresses.every(({ address }) => isPublic(address))) return undefined;
  return new DestinationRefused(`${host} is on a private network`);
}

/** Returns whether an address is on the internet. */
function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !notPublic.check(address, 'ipv4');
  return publicV6.check(address, 'ipv6') && !notPublicV6.check(address, 'ipv6');
}

function toList(networks: readonly string[], type: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), type);
  }
  return list;
}
