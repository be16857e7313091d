/** A question about what somebody has meant who has mistyped a name; nothing where it is like none. */
export function didYouMean(given: string, names: readonly string[]): string {
  const distances = names.map((name) => ({ name, far: distance(given, name) }));
  const nearest = distances.reduce((one, other) => (other.far < one.far ? other : one));
  return nearest.far <= 3 ? `Did you mean ${JSON.stringify(nearest.name)}? ` : '';
}

/** How many letters have to be added, left out or replaced (Levenshtein), in whichever case. */
function distance(given: string, name: string): number {
  const a = given.slice(0, 100).toLowerCase();
  const b = name.toLowerCase();
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
