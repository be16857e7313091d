import { installed } from '../runtimes/installed.js';
import { type Started, start } from '../support/start.js';

export interface WranglerOptions {
  /** Variables and secrets of the Worker. */
  readonly vars?: Readonly<Record<string, string>>;
  /** The folder that keeps the state of its Durable Objects and databases. Default: one in `folder`. */
  readonly state?: string;
}

/** Serves the Worker of a folder with its `wrangler.jsonc` and all bindings, as `wrangler dev` does. */
export function startWrangler(
  folder: string,
  { vars = {}, state = `${folder}/.wrangler/state` }: WranglerOptions = {},
): Promise<Started> {
  const args = ['dev', '--ip', '127.0.0.1', '--port', '0', '--inspector-port', '0'];
  args.push('--persist-to', state, '--show-interactive-dev-session=false');
  for (const [name, value] of Object.entries(vars)) args.push('--var', `${name}:${value}`);
  // Wrangler needs a newer Node than the tests.
  return start(installed('node22/bin/node'), [installed('wrangler/bin/wrangler.js'), ...args], {
    cwd: folder,
    env: { WRANGLER_SEND_METRICS: 'false', WRANGLER_LOG_PATH: `${folder}/.wrangler/logs` },
  });
}
