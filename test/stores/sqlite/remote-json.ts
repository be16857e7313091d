/** JSON that keeps bytes, dates, and numbers without an end. */
export function encode(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, name, field) {
    // What it was before toJSON.
    const before = this[name];
    if (before instanceof Date) return { $: 'date', ms: before.getTime() };
    if (field === Number.POSITIVE_INFINITY) return { $: 'infinity' };
    if (field instanceof Uint8Array)
      return { $: 'bytes', base64: Buffer.from(field).toString('base64') };
    // A Buffer is already what its toJSON makes of it.
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
