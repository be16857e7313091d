/** JSON that preserves bytes, dates and infinite numbers. */
export function encode(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, name, field) {
    // The value before toJSON.
    const before = this[name];
    if (before instanceof Date) return { $: 'date', ms: before.getTime() };
    if (field === Number.POSITIVE_INFINITY) return { $: 'infinity' };
    if (field instanceof Uint8Array)
      return { $: 'bytes', base64: Buffer.from(field).toString('base64') };
    // A Buffer has already become the result of its toJSON.
    if (field?.type === 'Buffer')
      return { $: 'bytes', base64: Buffer.from(field.data).toString('base64') };
    return field;
  });
}

export function decode<Value>(line: string): Value {
  return JSON.parse(line, (_, field) => {
    if (field?.$ === 'infinity') return Number.POSITIVE_INFINITY;
    if (field?.$ === 'date') return new Date(field.ms);
    if (field?.$ === 'bytes') return new Uint8Array(Buffer.from(field.base64, 'base64'));
    return field;
  });
}

/** A line that calls a verb, and further fields that locate it. */
export interface Call {
  readonly call: number;
  readonly verb: string;
  readonly args: readonly unknown[];
}

/** A line with an answer. */
export interface Reply {
  readonly call: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string; readonly code?: string | undefined };
}

export type RemoteVerbs = Record<string, (...args: never[]) => unknown>;

/** Executes the call of a line, and returns the line of its answer. */
export async function answer<Asked extends Call>(
  line: string,
  verbsOf: (call: Asked) => RemoteVerbs,
): Promise<string> {
  const asked = decode<Asked>(line);
  const { call, verb, args } = asked;
  let reply: Reply;
  try {
    reply = { call, result: await verbsOf(asked)[verb]?.(...(args as never[])) };
  } catch (error) {
    const { message, code } = error as Error & { code?: string };
    reply = { call, error: { message, code } };
  }
  return `${encode(reply)}\n`;
}
