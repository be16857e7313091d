import { readSync } from 'node:fs';

const RETRY_MS = 20;

/** Reads all of stdin, also if another process has made it non-blocking: then a read before the data fails. */
export function readStdin(): Uint8Array {
  const pieces: Uint8Array[] = [];
  const piece = new Uint8Array(64 * 1024);
  const clock = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    try {
      const length = readSync(0, piece);
      if (length === 0) return Buffer.concat(pieces);
      pieces.push(piece.slice(0, length));
    } catch (error) {
      const code = error instanceof Error && Reflect.get(error, 'code');
      // Windows reports the end of a pipe as an error.
      if (code === 'EOF') return Buffer.concat(pieces);
      if (code !== 'EAGAIN') throw error;
      Atomics.wait(clock, 0, 0, RETRY_MS);
    }
  }
}
