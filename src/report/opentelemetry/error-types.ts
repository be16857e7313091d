import { UsageError, WebhookError } from '../../errors/errors.js';
import { OTHER } from './conventions.js';

// The form of Node's codes, such as ECONNREFUSED and ERR_SOCKET_CLOSED.
const CODE = /^E[A-Z_]{2,40}$/;
const CLASS = /^[\w$]{1,64}$/;
const MAX_TYPES = 100;

/**
 * Returns the `error.type` of an error: a code or the name of its class, never its message or its `name`, which
 * may quote a payload. After a hundred types, all further ones share one.
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
    // The name of the class: a property of the error itself may come from a payload.
    const { name } = Object.getPrototypeOf(error).constructor;
    return CLASS.test(name) ? name : OTHER;
  } catch {
    // A proxy or a getter threw.
    return OTHER;
  }
}
