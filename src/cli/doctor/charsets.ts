const encoder = new TextEncoder();
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function toBytes(text: string): Uint8Array {
  return encoder.encode(text);
}

export function bytesOfText(text: string | undefined): Uint8Array | undefined {
  return text === undefined ? undefined : toBytes(text);
}

/** Text of bytes that are UTF-8, with its byte order mark. */
export function readUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

interface Charset {
  readonly name: string;
  decode(bytes: Uint8Array): string;
  /** `undefined` where it has no such character. */
  encode(text: string): Uint8Array | undefined;
}

export const LATIN_1: Charset = {
  name: 'Latin-1',
  decode: (bytes) => Buffer.from(bytes).toString('latin1'),
  // biome-ignore lint/suspicious/noControlCharactersInRegex: What Latin-1 has.
  encode: (text) => (/^[\u0000-\u00ff]*$/.test(text) ? Buffer.from(text, 'latin1') : undefined),
};

/** One that TextDecoder knows, and that has a byte for each character. */
function bytewise(name: string, label: string): Charset {
  const decoder = new TextDecoder(label, { ignoreBOM: true });
  const decode = (bytes: Uint8Array) => decoder.decode(bytes);
  const every = Array.from(
    { length: 256 },
    (_, byte) => [decode(Uint8Array.of(byte)), byte] as const,
  );
  const bytesOf = new Map(every);
  return {
    name,
    decode,
    encode(text) {
      const bytes = new Uint8Array(text.length);
      for (let index = 0; index < text.length; index += 1) {
        const byte = bytesOf.get(text.charAt(index));
        if (byte === undefined) return undefined;
        bytes[index] = byte;
      }
      return bytes;
    },
  };
}

/** The likely ones first. */
export const CHARSETS: readonly Charset[] = [
  LATIN_1,
  // What TextDecoder calls Latin-1, and every browser takes for it.
  bytewise('Windows-1252', 'windows-1252'),
  bytewise('Latin-9', 'iso-8859-15'),
  bytewise('Latin-2', 'iso-8859-2'),
  bytewise('Windows-1250', 'windows-1250'),
  bytewise('Windows-1251', 'windows-1251'),
  bytewise('Mac Roman', 'macintosh'),
];

export const utf16 = {
  /** Text in UTF-16 of either order, where it looks like that. */
  decode(bytes: Uint8Array): string | undefined {
    const marked = bytes[0] === 0xff && bytes[1] === 0xfe;
    const swapped = (bytes[0] === 0xfe && bytes[1] === 0xff) || bytes[0] === 0;
    if (bytes.length % 2 === 1 || (!marked && !swapped && bytes[1] !== 0)) return undefined;
    const little = Buffer.from(bytes);
    return (swapped ? little.swap16() : little).toString('utf16le').replace(/^\ufeff/, '');
  },
  encode: (text: string, bom: boolean) => Buffer.from((bom ? '\ufeff' : '') + text, 'utf16le'),
};
