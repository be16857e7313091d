import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

export type Headers = readonly (readonly [name: string, value: string | number])[];

/** Returns the head of a request with exactly these headers, in this order, including repeated ones. */
export function head(headers: Headers, { method = 'POST', path = '/webhooks' } = {}): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', ...lines, '', ''].join('\r\n');
}

/** Returns one piece of a chunked body. */
export function chunk(bytes: Uint8Array): Buffer {
  const size = bytes.length.toString(16);
  return Buffer.concat([Buffer.from(`${size}\r\n`), bytes, Buffer.from('\r\n')]);
}

export const LAST_CHUNK = '0\r\n\r\n';

export interface RawAnswer {
  readonly status: number;
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A TCP connection to a server, for raw bytes instead of requests. */
export class Connection {
  /** @param address - The result of `server.address()`. */
  static async open(address: AddressInfo | string | null): Promise<Connection> {
    if (typeof address !== 'object' || !address) throw new Error('The server listens on no port.');
    const socket = connect(address.port, address.address);
    await once(socket, 'connect');
    return new Connection(socket);
  }

  readonly #socket: Socket;
  #received = '';

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1').on('data', (text: string) => {
      this.#received += text;
    });
    // A server may close a connection with a reset.
    socket.on('error', () => {});
  }

  /** Resolves when the bytes are sent, or cannot be sent because the connection is closed. */
  async send(...pieces: readonly (string | Uint8Array)[]): Promise<void> {
    const bytes = Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
    await new Promise<void>((resolve) => this.#socket.write(bytes, () => resolve()));
  }

  /** Sends the same bytes repeatedly until the server closes the connection. */
  async flood(bytes: Uint8Array): Promise<void> {
    while (!this.#socket.destroyed) {
      await this.send(bytes);
      await nextTurn();
    }
  }

  /** Sends piece after piece without reading responses, as many clients do. */
  async sendUnheard(pieces: readonly Uint8Array[]): Promise<void> {
    this.#socket.pause();
    for (const piece of pieces) {
      await this.send(piece);
      await nextTurn();
    }
    this.#socket.resume();
  }

  /**
   * Returns the next response on this connection. Rejects if the server closes the connection without one.
   *
   * @param isHead - Whether it answers a HEAD request, and so has no body despite its length.
   */
  async answer({ isHead = false } = {}): Promise<RawAnswer> {
    for (;;) {
      const taken = takeAnswer(this.#received, isHead);
      if (taken) {
        this.#received = taken.rest;
        return taken.answer;
      }
      if (this.#socket.closed)
        throw new Error('The server closed the connection without an answer.');
      await this.#change();
    }
  }

  /** Resolves when the server has closed the connection. */
  async closed(): Promise<void> {
    while (!this.#socket.closed) await this.#change();
  }

  /** Ends the sending side, and keeps reading. */
  end(): void {
    this.#socket.end();
  }

  reset(): void {
    this.#socket.resetAndDestroy();
  }

  close(): void {
    this.#socket.destroy();
  }

  async #change(): Promise<void> {
    await new Promise<void>((resolve) => {
      const changed = () => {
        this.#socket.off('data', changed).off('close', changed);
        resolve();
      };
      this.#socket.on('data', changed).on('close', changed);
    });
  }
}

function takeAnswer(
  received: string,
  isHead: boolean,
): { answer: RawAnswer; rest: string } | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [statusLine = '', ...lines] = received.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const status = Number(statusLine.split(' ')[1]);
  const start = end + 4;
  if (isHead) return { answer: { status, headers, body: '' }, rest: received.slice(start) };
  if (headers['transfer-encoding'] === 'chunked') {
    const taken = takeChunks(received.slice(start));
    return taken && { answer: { status, headers, body: taken.body }, rest: taken.rest };
  }
  // Node's own responses have no length and no body.
  const stop = start + Number(headers['content-length'] ?? 0);
  if (received.length < stop) return undefined;
  return {
    answer: { status, headers, body: received.slice(start, stop) },
    rest: received.slice(stop),
  };
}

function takeChunks(received: string): { body: string; rest: string } | undefined {
  let body = '';
  let at = 0;
  for (;;) {
    const line = received.indexOf('\r\n', at);
    if (line === -1) return undefined;
    const size = Number.parseInt(received.slice(at, line), 16);
    const stop = line + 2 + size;
    if (received.length < stop + 2) return undefined;
    body += received.slice(line + 2, stop);
    at = stop + 2;
    if (size === 0) return { body, rest: received.slice(at) };
  }
}
