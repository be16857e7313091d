import { writeLine } from '../../report/log.js';
import type { ScriptCalls } from './client.js';
import { INFO } from './index-scripts.js';

/** Says what the server's settings put at risk, where it tells them. Never rejects. */
export async function warnOfServer(calls: ScriptCalls): Promise<void> {
  // It may be forbidden, or made to look different by a provider: that is no fault.
  const info = await INFO.run(calls, ['wh:{00}:open'], []).catch(() => '');
  const setting = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];

  const policy = setting('maxmemory_policy') ?? 'noeviction';
  if (Number(setting('maxmemory')) > 0 && policy !== 'noeviction') {
    writeLine(
      `Redis may evict deliveries (its maxmemory-policy is ${policy}), and then one can be handled ` +
        'twice. Set maxmemory-policy noeviction.',
      'operate.md#redis-evicts',
    );
  }
  if (setting('aof_enabled') === '0') {
    writeLine(
      'Redis keeps no append-only file, so when it restarts, it forgets deliveries: they can be ' +
        'handled twice, and what waits for a person is lost. Set appendonly yes.',
      'operate.md#redis-forgets',
    );
  }
}
