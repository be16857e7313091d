import { UsageError, WebhookError } from '../../errors.js';
import { OTHER } from './conventions.js';

// As Node's own: ECONNREFUSED, ERR_SOCKET_CLOSED.
const CODE = /^E[A-Z_]{2,40}$/;
const CLASS = /^[\w$]{1,64}$/;
const MAX_TYPES = 100;

/**
 * Gives errors their `error.type`: a code or the name of a class, never the message or the `name`, which
 * may quote a payload. After a hundred of them, the rest have to share one.
 */
export class ErrorTypes {
  readonly #known = new Set<string>();

  of(error: unknown): string {
    const type = typeOf(error);
    if (!this.#known.has(type)) {
      if (this.#known.size >= MAX_TYPES) return OTHER;
      this.#known.add(type);
    }
    return type;
  }
}

function typeOf(error: unknown): string {
  try {
    if (!(error instanceof Error)) return OTHER;
    if (error instanceof WebhookError || error instanceof UsageError) return error.code;
    if ('code' in error && typeof error.code === 'string' && CODE.test(error.code)) {
      return error.code;
    }
    // That of its class: what an error was given of its own may be a payload's.
    const { name } = Object.getPrototypeOf(error).constructor;
    return CLASS.test(name) ? name : OTHER;
  } catch {
    // A proxy or a getter that throws.
    return OTHER;
  }
}
