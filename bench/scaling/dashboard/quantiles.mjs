const WINDOW_SECONDS = 10;

/** The quantiles of histograms over the last seconds. A single second has too few values. */
export class Quantiles {
  /** For each second, the counts of each name's buckets. */
  #seconds = [];

  /** Call this once a second. Returns milliseconds. */
  add(points, attribute) {
    const latest = new Map();
    for (const { attributes, value } of points) {
      const { boundaries, counts } = value.buckets;
      const known = latest.get(attributes[attribute]);
      latest.set(attributes[attribute], { boundaries, counts: plus(known?.counts, counts) });
    }
    this.#seconds = [latest, ...this.#seconds.slice(0, WINDOW_SECONDS - 1)];
    const result = {};
    for (const name of new Set(this.#seconds.flatMap((second) => [...second.keys()]))) {
      const seen = this.#seconds.flatMap((second) => second.get(name) ?? []);
      const counts = seen.reduce((sum, one) => plus(sum, one.counts), undefined);
      const at = (part) => Number((1000 * quantile(counts, seen[0].boundaries, part)).toFixed(2));
      if (counts.some(Boolean)) result[name] = { p50: at(0.5), p99: at(0.99) };
    }
    return result;
  }
}

function plus(one, other) {
  return one ? one.map((count, index) => count + other[index]) : other;
}

/** Returns a quantile of values that are spread evenly within their bucket, as dashboard tools assume. */
function quantile(counts, boundaries, part) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  let left = part * total;
  const index = counts.findIndex((count) => {
    left -= count;
    return left <= 0;
  });
  const from = boundaries[index - 1] ?? 0;
  const to = boundaries[index] ?? from;
  return from + (to - from) * (1 + left / counts[index]);
}
