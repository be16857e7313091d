import { withTimeout } from '../../timing.js';

/**
 * Makes something of an `env` at its first use, and gives the same from then on. What could not be made is
 * made again at the next use.
 */
export function oncePerEnv<Env, Made extends object>(
  make: (env: Env) => Promise<Made>,
  what: string,
): (env: Env) => Promise<Made> {
  const made = new WeakMap<object, Promise<Made>>();
  return async (env) => {
    const key = typeof env === 'object' && env !== null ? env : made;
    const making = made.get(key) ?? make(env);
    made.set(key, making);
    try {
      // Each waits for itself: whoever began it may have been cancelled, and its timers with it.
      return await withTimeout(making, what);
    } catch (error) {
      if (made.get(key) === making) made.delete(key);
      throw error;
    }
  };
}
