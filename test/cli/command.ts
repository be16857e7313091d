import { AsyncLocalStorage } from 'node:async_hooks';
import { Console } from 'node:console';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createReceiver } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { onTestFinished, vi } from 'vitest';
import type { Host } from '../../src/cli/host.js';
import { run as runCommand } from '../../src/cli/run.js';

export const SECRET = 'a secret for tests';

interface Settings {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
  /** The working directory of the command. */
  readonly cwd?: string;
}

/** The terminal of a command. Without one, the command writes to pipes. */
interface Terminal {
  readonly columns: number;
  /** Whether stderr goes to the terminal as well. Default: true. */
  readonly hasErrors?: boolean;
}

const inCommand = new AsyncLocalStorage<true>();

/** A command that runs in this process, with its own streams and environment. */
export class Running {
  stdout = '';
  stderr = '';
  /** Both outputs, in the order in which they were written. */
  written = '';
  readonly ended: Promise<Ended>;
  /** Asks the command to end, as SIGINT and SIGTERM do. */
  interrupt: () => void = () => {};

  constructor(args: readonly string[], settings: Settings, terminal?: Terminal) {
    this.ended = this.#run(args, settings, terminal);
  }

  output(): string {
    return this.written;
  }

  /** Resolves with the match of `wanted` as soon as the output contains it. */
  async says(wanted: RegExp): Promise<RegExpExecArray> {
    const matched = () => {
      const match = wanted.exec(this.written);
      if (match === null) throw new Error(`${wanted} is not in the output: ${this.written}`);
      return match;
    };
    return vi.waitFor(matched, { interval: 5 });
  }

  async #run(args: readonly string[], settings: Settings, terminal?: Terminal): Promise<Ended> {
    const { env = {}, input = '', cwd } = settings;
    const asked = new Promise<void>((resolve) => {
      this.interrupt = resolve;
    });
    const toStdout = (text: string) => {
      this.stdout += text;
      this.written += text;
    };
    const toStderr = (text: string) => {
      this.stderr += text;
      this.written += text;
    };
    const { columns, hasErrors = true } = terminal ?? {};
    const seen = columns === undefined ? {} : { isTTY: true, columns };
    const host: Host = {
      args,
      env: { PATH: process.env.PATH, ...env },
      stdin: {
        isTTY: terminal !== undefined,
        read: () => Buffer.from(input),
        ask: async (question) => {
          toStderr(question);
          return Buffer.from(input).toString();
        },
      },
      stdout: { write: toStdout, ...seen },
      stderr: { write: toStderr, ...(hasErrors ? seen : {}) },
      interrupted: () => asked,
      admit(output) {
        const console = new Console(output);
        const before = globalThis.console;
        // Other code in this process, such as servers of the tests, logs as before.
        globalThis.console = new Proxy(before, {
          get: (_, name) => Reflect.get(inCommand.getStore() ? console : before, name),
        });
        return () => {
          globalThis.console = before;
        };
      },
    };
    const leave = enter(env, cwd);
    try {
      const status = await inCommand.run(true, () => runCommand(host));
      const stdout = terminal && hasErrors ? this.written : this.stdout;
      return { status, stdout, stderr: this.stderr, records: () => recordsIn(stdout) };
    } finally {
      leave();
    }
  }
}

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The lines of JSON. */
  records(): ReturnType<typeof recordsIn>;
}

/** Sets the variables and the working directory that the file of a shop sees. */
function enter(env: Readonly<Record<string, string>>, cwd = process.cwd()): () => void {
  const before = process.cwd();
  if (cwd !== before) process.chdir(cwd);
  const own = Object.entries(env).filter(([name]) => /^(SHOP_|PORT$)/.test(name));
  for (const [name, value] of own) process.env[name] = value;
  return () => {
    if (cwd !== before) process.chdir(before);
    for (const [name] of own) delete process.env[name];
  };
}

export function recordsIn(stdout: string) {
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Runs the command to its end, in a pipe. */
export const run = (args: readonly string[], settings: Settings = {}) =>
  begin(args, settings).ended;

/** Starts the command in a pipe. It is interrupted at the end of the test. */
export function begin(args: readonly string[], settings: Settings = {}, terminal?: Terminal) {
  const running = new Running(args, settings, terminal);
  onTestFinished(async () => {
    running.interrupt();
    await running.ended;
  });
  return running;
}

/** Runs the command to its end in a terminal, which merges both outputs. */
export async function runInTerminal(
  columns: number,
  args: readonly string[],
  { hasErrors = true, ...settings }: Settings & Pick<Terminal, 'hasErrors'> = {},
) {
  return asShown(await new Running(args, settings, { columns, hasErrors }).ended);
}

/** Adds the lines that the terminal shows in the end. */
export function asShown<Ended extends { readonly stdout: string }>(ended: Ended) {
  const shown = ended.stdout.replace(PROGRESS, '').replace(COLOURS, '');
  return { ...ended, lines: shown.trimEnd().split(/\r?\n/) };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: The escape sequence clears a line.
const PROGRESS = /[^\n]*\r\u001b\[K/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: Terminals use these escape sequences.
const COLOURS = /\u001b\[[\d;]*[mK]/g;

/** Serves a shop whose receiver handles paid orders, until the test has ended. */
export async function openShop(secret = SECRET) {
  const delivered: string[] = [];
  const receiver = createReceiver({ secret, hooks: { onRejected() {}, onError() {} } }).on(
    'order:paid',
    ({ payload }) => void delivered.push(payload.id),
  );
  const { server, url } = await serve(createServer(toNodeHandler(receiver)));
  onTestFinished(() => receiver.close({ server }));
  return { url, delivered };
}

/** Serves on a free port, until the test has ended. */
export async function serve(server: Server) {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks` };
}
