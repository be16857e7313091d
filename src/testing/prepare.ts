import type { Fixture } from './fixture.js';
import { prefixOf, withPrefix } from './header-prefix.js';

/** Faults of a delivery that happen in production, and that a test can cause. */
export interface ReplayFaults {
  /** The event to name in the header, instead of the fixture's. Default: the fixture's. */
  event?: string;
  /** The id to name in the header; `'fresh'` generates a new one. Default: the fixture's. */
  id?: 'fresh' | (string & {});
  /** Whether to change one byte of the body after it is signed. Default false. */
  corrupt?: boolean;
  /** The number of pieces to send the body in, over HTTP. Default 1. */
  chunks?: number;
}

/** A request to a target. */
export interface OutgoingRequest {
  readonly method: string;
  readonly headers: Fixture['headers'];
  readonly body: Uint8Array;
  readonly chunks: number;
}

/** Returns the signature of a request's body, as the provider would sign it. */
export type Signer = (request: Omit<OutgoingRequest, 'chunks'>) => string | Promise<string>;

/** Makes a request of a fixture: signs it as the fixture says, then applies the changes of the test. */
export async function prepare(
  fixture: Fixture,
  { event, id, corrupt = false, chunks = 1 }: ReplayFaults,
  signer: Signer,
  headerPrefix: string,
): Promise<OutgoingRequest> {
  const { method, body, signing } = fixture;
  let headers = withPrefix(fixture.headers, prefixOf(fixture), headerPrefix);
  // Keep the place and the spelling of a header: servers treat both differently.
  const set = (name: string, value?: string) => {
    const isIt = ([other]: readonly [string, string]) => other.toLowerCase() === name.toLowerCase();
    const at = headers.findIndex(isIt);
    const [written] = headers[at] ?? [name];
    const others = headers.filter((header) => !isIt(header));
    const one = value === undefined ? [] : [[written, value] as const];
    headers = others.toSpliced(at === -1 ? others.length : at, 0, ...one);
  };
  if (event !== undefined) set(`${headerPrefix}Event`, event);
  if (id !== undefined)
    set(`${headerPrefix}Webhook`, id === 'fresh' ? `whl_${crypto.randomUUID()}` : id);
  if (signing === 'omit') set(`${headerPrefix}Signature`);
  const signature = () => signer({ method, headers, body });
  if (signing === 'resign') set(`${headerPrefix}Signature`, await signature());
  if (signing === 'corrupt') set(`${headerPrefix}Signature`, flipDigit(await signature()));
  return { method, headers, body: corrupt ? flipBit(body) : body, chunks };
}

function flipDigit(hex: string): string {
  return (hex.startsWith('0') ? '1' : '0') + hex.slice(1);
}

function flipBit(body: Uint8Array): Uint8Array {
  const middle = body.length >> 1;
  return body.map((byte, index) => (index === middle ? byte ^ 1 : byte));
}
