import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fixture } from 'storefront-webhooks/testing';

/** A delivery to save. */
export type Saved = Omit<Fixture, 'file'>;

/** Makes a delivery from a body that came without a signature, to be signed when it is sent. */
export function unsigned(event: string, id: string, body: Uint8Array, description = ''): Saved {
  return {
    event,
    description,
    method: 'POST',
    headers: [
      ['Content-Type', 'application/json'],
      ['X-Service-Event', event],
      ['X-Service-Webhook', id],
    ],
    body,
    signing: 'resign',
    redacted: [],
    expect: undefined,
  };
}

/** Returns the text of a `.hook.json` file: one header per line, and the body as text if it is UTF-8. */
export function toFixtureText({ headers, body, ...saved }: Saved): string {
  const rows = headers.map((header) => `    ${JSON.stringify(header)}`);
  const checks = {
    bytes: body.length,
    sha256: createHash('sha256').update(body).digest('hex'),
  };
  const members = {
    v: 1,
    event: saved.event,
    description: saved.description,
    method: saved.method,
    headers: rows.length === 0 ? '[]' : `[\n${rows.join(',\n')}\n  ]`,
    body: JSON.stringify({ ...toText(body), ...checks }, null, 2).replaceAll('\n', '\n  '),
    signing: saved.signing,
    redacted: saved.redacted,
    expect: saved.expect,
  };
  const lines = Object.entries(members)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const isWritten = name === 'headers' || name === 'body';
      return `  "${name}": ${isWritten ? value : JSON.stringify(value)}`;
    });
  return `{\n${lines.join(',\n')}\n}\n`;
}

function toText(body: Uint8Array): { text: string } | { base64: string } {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body) };
  } catch {
    return { base64: Buffer.from(body).toString('base64') };
  }
}

/** Returns an event as part of a safe file name: the sender has chosen the event. */
export function toFileName(event: string): string {
  const name = event.toLowerCase().replace(/[^a-z0-9_]+/g, '-');
  return name.replace(/^-+|-+$/g, '').slice(0, 40) || 'unknown';
}

/** Returns a function that counts on from the highest file number in a folder. */
export function numbersIn(folder: string): () => number {
  mkdirSync(folder, { recursive: true });
  let last = highestNumber(readdirSync(folder));
  return () => ++last;
}

/** Returns the highest number that a file name begins with; 0 if there is no number. */
export function highestNumber(names: readonly string[]): number {
  // Without spreading: a folder may have more files than a call takes arguments.
  return names.reduce(
    (highest, name) => Math.max(highest, Number(/^(\d{4,9})-/.exec(name)?.[1] ?? 0)),
    0,
  );
}

/**
 * Writes a file that does not exist yet.
 *
 * @param options.isPrivate - Whether only this user may read it. Default false.
 * @returns The path; `undefined` if there is a file of that name already, which is not changed.
 */
export function writeNew(
  folder: string,
  name: string,
  text: string,
  { isPrivate = false }: { readonly isPrivate?: boolean } = {},
): string | undefined {
  const file = join(folder, name);
  try {
    writeFileSync(file, text, { flag: 'wx', mode: isPrivate ? 0o600 : 0o644 });
    return file;
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, 'code') === 'EEXIST') return undefined;
    throw error;
  }
}
