/** Parses an absolute URL; returns `undefined` if it is not valid. Some Workers have no `URL.canParse`. */
export function parseAddress(address: string): URL | undefined {
  try {
    return new URL(address);
  } catch {
    return undefined;
  }
}

// Host names as `URL` normalizes them.
const LOOPBACK = /^((.+\.)?localhost\.?|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Whether a URL is on this machine, so that nothing on the network can read what is sent to it. */
export function isLoopback({ hostname }: URL): boolean {
  return LOOPBACK.test(hostname);
}
