const encoder = new TextEncoder();
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function toBytes(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Decodes UTF-8 and keeps the byte order mark; `undefined` if the bytes are not valid UTF-8. */
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
  /** Returns `undefined` if the charset does not have a character. */
  encode(text: string): Uint8Array | undefined;
}

export const LATIN_1: Charset = {
  name: 'Latin-1',
  decode: (bytes) => Buffer.from(bytes).toString('latin1'),
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Latin-1 includes control characters.
  encode: (text) => (/[^\u0000-\u00ff]/.test(text) ? undefined : Buffer.from(text, 'latin1')),
};

/** Creates a charset with one byte per character that TextDecoder knows. */
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

/** The charsets, with the likely ones first. */
export const CHARSETS: readonly Charset[] = [
  LATIN_1,
  // TextDecoder and all browsers use it for the label Latin-1.
  bytewise('Windows-1252', 'windows-1252'),
  bytewise('Latin-9', 'iso-8859-15'),
  bytewise('Latin-2', 'iso-8859-2'),
  bytewise('Windows-1250', 'windows-1250'),
  bytewise('Windows-1251', 'windows-1251'),
  bytewise('Mac Roman', 'macintosh'),
];

export const utf16 = {
  /** Decodes UTF-16 in either byte order; `undefined` if the bytes do not look like UTF-16. */
  decode(bytes: Uint8Array): string | undefined {
    const marked = bytes[0] === 0xff && bytes[1] === 0xfe;
    const swapped = (bytes[0] === 0xfe && bytes[1] === 0xff) || bytes[0] === 0;
    if (bytes.length % 2 === 1 || (!marked && !swapped && bytes[1] !== 0)) return undefined;
    const little = Buffer.from(bytes);
    return (swapped ? little.swap16() : little).toString('utf16le').replace(/^\ufeff/, '');
  },
  encode: (text: string, bom: boolean) => Buffer.from((bom ? '\ufeff' : '') + text, 'utf16le'),
};

/** Decodes the modified UTF-8 of Java, or CESU-8, in which each half of a surrogate pair is encoded by itself. */
export function fromModifiedUtf8(bytes: Uint8Array): string | undefined {
  if (!bytes.includes(0xed) && !bytes.includes(0xc0)) return undefined;
  const unit = (lead: string, rest: string) =>
    String.fromCharCode(0xd000 + ((lead.charCodeAt(0) & 0x3f) << 6) + (rest.charCodeAt(0) & 0x3f));
  const made = LATIN_1.decode(bytes)
    .replaceAll('\xc0\x80', '\0')
    .replace(/\xed([\xa0-\xaf])([\x80-\xbf])\xed([\xb0-\xbf])([\x80-\xbf])/g, (_, a, b, c, d) =>
      Buffer.from(unit(a, b) + unit(c, d)).toString('latin1'),
    );
  return readUtf8(Buffer.from(made, 'latin1'));
}
