/** A store in memory that says it is durable, so that it keeps dead letters: for a run, never for goods. */
export function durable(store) {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'durable') return true;
      const value = target[name];
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
