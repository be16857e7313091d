import { expect, test, vi } from 'vitest';
import { endedByReplica } from '../../../src/stores/redis/demoted.js';

const run = async () => '=';
const calls = { eval: run, evalSha: run };

test('each connection of a pool of node-redis leaves a replica, at most once a second', () => {
  const sendCommand = vi.fn(async (_args: string[]) => 'OK');
  const pool = { ...calls, sendCommand, totalClients: 3 };
  const { failed } = endedByReplica(pool, calls);
  failed?.(new Error('ERR wrong number of arguments'));
  expect(sendCommand).not.toHaveBeenCalled();
  for (let times = 0; times < 2; times++) failed?.(new Error('READONLY You cannot write'));
  expect(sendCommand.mock.calls).toEqual(Array(3).fill([['QUIT']]));
});
