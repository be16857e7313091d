/**
 * A memory store that claims to be durable, so that it keeps dead letters. Only for this run, never for real
 * goods.
 */
export function durable(store) {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'durable') return true;
      const value = target[name];
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
