import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { createReceiver } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { onTestFinished } from 'vitest';

// In whichever folder it is run.
const CLI = ['--import', import.meta.resolve('tsx'), resolve('src/cli/index.ts')];
const TSCONFIG = resolve('tsconfig.json');

export const SECRET = 'a secret for tests';

interface Settings {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
}

/** Runs the command to its end, in a pipe. */
export async function run(args: readonly string[], settings: Settings = {}) {
  return begin(args, settings).ended;
}

/** Runs the command in a pipe, and gives its process, to be ended earlier. */
export function begin(args: readonly string[], { env = {}, input = '' }: Settings = {}) {
  const child = spawn(process.execPath, [...CLI, ...args], { env: environment(env) });
  return { child, ended: collect(child, input) };
}

/** Without what whoever runs the tests has set. */
function environment(env: Readonly<Record<string, string>>) {
  const { WEBHOOK_SECRET: _, NO_COLOR: __, ...inherited } = process.env;
  return { ...inherited, TSX_TSCONFIG_PATH: TSCONFIG, ...env };
}

interface Terminal {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** For the shell, such as `2>/dev/null`. */
  readonly redirect?: string;
}

/** Starts it in a terminal of so many columns, which writes both outputs to one. What is typed there is its input. */
export function startInTerminal(
  columns: number,
  args: readonly string[],
  { env = {}, cwd = process.cwd(), redirect = '' }: Terminal = {},
) {
  const words = [process.execPath, ...CLI, ...args].map(
    (word) => `'${word.replaceAll("'", `'\\''`)}'`,
  );
  const command = `stty cols ${columns}; exec ${words.join(' ')} ${redirect}`;
  return spawn('script', ['-qec', command, '/dev/null'], {
    cwd,
    env: { ...environment(env), TERM: 'xterm-256color' },
  });
}

/** Runs it there to its end. */
export async function runInTerminal(
  ...[columns, args, terminal]: Parameters<typeof startInTerminal>
) {
  return asShown(await collect(startInTerminal(columns, args, terminal), ''));
}

/** With the lines that a person sees in the end. */
export function asShown<Ended extends { readonly stdout: string }>(ended: Ended) {
  const shown = ended.stdout.replace(PROGRESS, '').replace(COLOURS, '');
  return { ...ended, lines: shown.trimEnd().split(/\r?\n/) };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what takes a line away again.
const PROGRESS = /[^\n]*\r\u001b\[K/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what a terminal is told.
const COLOURS = /\u001b\[[\d;]*[mK]/g;

/** What it has written when it has ended. */
export async function collect(child: ReturnType<typeof spawn>, input?: string | Uint8Array) {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  // A command that reads nothing of it may have ended.
  child.stdin?.on('error', () => {});
  if (input !== undefined) child.stdin?.end(input);
  const [status] = await once(child, 'close');
  return {
    status,
    stdout,
    stderr,
    /** The lines of JSON. */
    records: () =>
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
  };
}

/** A shop whose receiver handles paid orders, for the length of a test. */
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

/** Serves on a free port, for the length of a test. */
export async function serve(server: Server) {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks` };
}
