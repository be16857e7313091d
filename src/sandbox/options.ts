import type { Variant } from '../api/endpoint.js';
import type { ClockMode } from './clock.js';
import type { Gateway } from './trade/gateways.js';
import type { Unknowns } from './unknowns.js';

/** What {@link createSandbox} takes. */
export interface SandboxOptions {
  /** Which shape products have (specification: Product). Default `'newer'`. */
  variant?: Variant;
  /** The file that everything is kept in, of SQLite. Default: memory only. */
  db?: string;
  /**
   * How time goes by: as outside, only by `clock.advance()`, or as fast as can be. Default `'real'`.
   */
  clock?: ClockMode;
  /** What signs the webhooks of every account. Default: `whsec_` and the account's key. */
  webhookSecret?: string;
  /** The gateways that are configured in a new account. Default: all of them. */
  gateways?: readonly Gateway[];
  /** What to do at places that the specification does not show. Default: what each place says. */
  unknowns?: Partial<Unknowns>;
  /** Picks at each of these places among what is legal. Without it, the default is taken. */
  seed?: number;
}
