import { isJsonObject } from '../schemas/values.js';

/** Applies a JSON merge patch (RFC 7396): `null` removes a member, any other value replaces it. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  // A Map handles a member named "__proto__" like any other.
  const members = new Map(isJsonObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name);
    else members.set(name, mergePatch(members.get(name), value));
  }
  return Object.fromEntries(members);
}
