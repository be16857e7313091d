/**
 * Measures several functions side by side: in short batches that take turns, so that other work on the machine
 * affects all of them alike.
 *
 * @param {Record<string, () => unknown>} contenders - The functions, which may be asynchronous.
 * @param {{ batch: number, rounds: number }} size
 * @returns {Promise<Map<string, number>>} The microseconds of one call, by name: the lower quartile of the
 *   batches, because a disturbance can only make a machine slower.
 */
export async function measure(contenders, { batch, rounds }) {
  const names = Object.keys(contenders);
  const times = new Map(names.map((name) => [name, []]));
  for (let round = -Math.ceil(rounds / 5); round < rounds; round++) {
    for (const name of names) {
      const run = contenders[name];
      const startedAt = process.hrtime.bigint();
      for (let i = 0; i < batch; i++) {
        const result = run();
        if (result instanceof Promise) await result;
      }
      const micros = Number(process.hrtime.bigint() - startedAt) / 1000 / batch;
      // The first rounds warm up.
      if (round >= 0) times.get(name).push(micros);
    }
  }
  return new Map(names.map((name) => [name, lowerQuartile(times.get(name))]));
}

function lowerQuartile(values) {
  return values.sort((a, b) => a - b)[values.length >> 2];
}

/** Prints each contender's time and its ratio to the first one. */
export function print(title, times) {
  const [base] = times.values();
  console.log(`\n${title}`);
  for (const [name, micros] of times) {
    console.log(
      `  ${name.padEnd(44)} ${micros.toFixed(2).padStart(9)} µs ${(micros / base).toFixed(2).padStart(7)}`,
    );
  }
}
