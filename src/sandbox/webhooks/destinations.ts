import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { isLoopback } from '../../address.js';

/** A webhook may not be sent to where its URL leads: it would be a way into a network. */
export class DestinationRefused extends Error {
  override readonly name = 'DestinationRefused';
}

/** Networks of IPv4 that are not the internet, and what clouds keep there about their machines. */
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
  // Azure's, which is of a public network.
  '168.63.129.16/32',
];

/** The internet of IPv6; mapped and translated addresses of IPv4 are outside of it. */
const PUBLIC_V6 = ['2000::/3'];

/** What of it is not: tunnels that lead to an address of IPv4, documentation, benchmarks. */
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

/** Where webhooks may be sent to: HTTPS on the internet, and anything on this machine. */
export class Destinations {
  readonly #allowed: ReadonlySet<string>;
  readonly #ask: LookupAll;

  /**
   * @param allowHosts - As they are in a URL, without a port: allowed whatever their address, and plain HTTP.
   * @param ask - Says where a name leads. Default: the system.
   */
  constructor(allowHosts: readonly string[] = [], ask: LookupAll = lookup) {
    this.#allowed = new Set(allowHosts.map((host) => host.toLowerCase()));
    this.#ask = ask;
  }

  /** Whether a URL is HTTPS, or plain HTTP to where that is allowed. */
  takes(text: string): boolean {
    if (!URL.canParse(text) || /\s/.test(text)) return false;
    const url = new URL(text);
    // A password would be shown to whoever may read the logs.
    if (url.username !== '' || url.password !== '') return false;
    return url.protocol === 'https:' || (url.protocol === 'http:' && this.#isTrusted(url));
  }

  /**
   * Reads a URL that something is to be sent to. Addresses that are found for a name are checked by
   * {@link Destinations.lookup}.
   *
   * @throws {DestinationRefused}
   */
  check(text: string): URL {
    if (!URL.canParse(text)) throw new DestinationRefused('it is no URL');
    const url = new URL(text);
    if (url.protocol !== 'https:' && url.protocol !== 'http:') {
      throw new DestinationRefused('it is neither HTTPS nor HTTP');
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
   * Finds the addresses of a host for `node:net`, which connects to one of those that were checked here: a name
   * that leads somewhere else a moment later gains nothing.
   */
  readonly lookup: LookupFunction = (host, options, done) => {
    const give = (found: readonly LookupAddress[]) => {
      const [first] = found;
      if (options.all) done(null, [...found]);
      else done(null, first?.address ?? '', first?.family);
    };
    // Nobody is asked for the names of this machine, which could lead elsewhere.
    if (isLoopback(new URL(`http://${host}`))) return give(THIS_MACHINE);
    this.#ask(host, { ...options, all: true }, (error, found) => {
      if (error) return done(error, '');
      const refused = this.#allowed.has(host) ? undefined : findPrivate(host, found);
      if (refused) return done(refused, '');
      give(found);
    });
  };
}

/** Refuses all where one is private: who has both is up to something. */
function findPrivate(
  host: string,
  addresses: readonly Pick<LookupAddress, 'address'>[],
): DestinationRefused | undefined {
  if (addresses.length > 0 && addresses.every(({ address }) => isPublic(address))) return undefined;
  return new DestinationRefused(`${host} is on a private network`);
}

/** Whether an address is on the internet. */
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
