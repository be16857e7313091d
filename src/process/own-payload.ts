/**
 * A copy of a payload down to its leaves, so that what one handler writes is nothing to the others. Plain
 * objects and arrays are copied; what a schema of the user's has made otherwise is shared. Without
 * recursion: a payload may be nested deeper than a stack is high.
 */
export function ownPayload(payload: unknown): unknown {
  if (!isPlain(payload)) return payload;
  const own = shallowCopy(payload);
  const left = [own];
  for (let value = left.pop(); value; value = left.pop()) {
    for (const [name, member] of Object.entries(value)) {
      if (!isPlain(member)) continue;
      const copy = shallowCopy(member);
      // Its own by now, also where it is named __proto__: so it is replaced and never looked up.
      value[name] = copy;
      left.push(copy);
    }
  }
  return own;
}

type Plain = Record<string, unknown>;

function isPlain(value: unknown): value is Plain {
  if (typeof value !== 'object' || value === null) return false;
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}

function shallowCopy(value: Plain): Plain {
  return Array.isArray(value) ? Object.assign([], value) : { ...value };
}
