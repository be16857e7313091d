/** A whole address; `undefined` where it is none. Some Workers have no `URL.canParse`. */
export function parseAddress(address: string): URL | undefined {
  try {
    return new URL(address);
  } catch {
    return undefined;
  }
}

// As a URL writes them, whatever way they were written.
const LOOPBACK = /^((.+\.)?localhost\.?|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Whether an address is of this machine, so that nobody on the way can read what is sent to it. */
export function isLoopback({ hostname }: URL): boolean {
  return LOOPBACK.test(hostname);
}
