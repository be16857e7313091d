/** What tells a person which order a delivery is about. */
export interface Glance {
  readonly orderId: string | undefined;
  readonly email: string | undefined;
}

const MAX_CHARACTERS = 200;
const NOTHING: Glance = { orderId: undefined, email: undefined };

/** The `id` and `email` in a body, or in its `data` where an event is wrapped around it. Never throws. */
export function glanceAt(body: Uint8Array): Glance {
  try {
    const json: unknown = JSON.parse(new TextDecoder().decode(body));
    if (!isObject(json)) return NOTHING;
    const record = typeof json.event === 'string' && isObject(json.data) ? json.data : json;
    return { orderId: shortText(record.id), email: shortText(record.email) };
  } catch {
    return NOTHING;
  }
}

function shortText(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, MAX_CHARACTERS) : undefined;
}

// Not the one of the schemas, with which zod would be loaded.
function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
