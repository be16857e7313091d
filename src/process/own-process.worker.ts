import type { Load as FullLoad, Waiting } from './load.js';
import type * as full from './server-drain.js';

/** Accepts everything: on Workers, the platform limits the load. */
export class Load implements Omit<FullLoad, 'bodies' | 'inHand'> {
  declare readonly bodies: undefined;

  waitForTurn(): undefined {}

  refuse(): undefined {}

  hold<Kind>(_body: object, _came: object, work: () => Promise<Kind>): Promise<Kind> {
    return work();
  }

  asked(): Waiting {
    return { since: performance.now() };
  }

  answered(): void {}
}

export const drain: typeof full.drain = async () => {};

/** Short, because the platform may have ended the first copy without an error. */
export const longestMs: (timeoutMs: number) => number = () => 3_000;
