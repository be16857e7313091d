import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { UsageError } from 'storefront-webhooks';
import { runAndLeave } from './shell-command.js';

const COMMAND_MS = 10_000;
const UP_MS = 10_000;

/** Returns a function that runs the restart command, and waits until the endpoint listens again. */
export function createRestart(command: string, url: URL): () => Promise<void> {
  return async () => {
    try {
      await runAndLeave(command, COMMAND_MS);
    } catch (error) {
      throw failed(error instanceof Error ? error.message : 'it failed');
    }
    const end = performance.now() + UP_MS;
    while (!(await isListening(url))) {
      if (performance.now() > end) {
        throw failed(`the endpoint does not listen again within ${UP_MS / 1000} s`);
      }
      await wait(100);
    }
  };
}

async function isListening({ hostname, port, protocol }: URL): Promise<boolean> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = connect(Number(port || (protocol === 'https:' ? 443 : 80)), host);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

function failed(why: string): UsageError {
  return new UsageError('option_invalid', `The --restart command does not work: ${why}.`);
}
