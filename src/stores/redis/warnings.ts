import { writeLine } from '../../errors/log.js';
import type { ScriptCalls } from './client.js';
import { INFO } from './index-scripts.js';

/** Warns on stderr of server settings that put deliveries at risk, if the server shows them. Never rejects. */
export async function warnOfServer(calls: ScriptCalls): Promise<void> {
  // A hosted Redis may forbid INFO or change its format, which is no fault.
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
      'Redis keeps no append-only file, so after a restart it forgets deliveries: they can be ' +
        'handled twice, and dead letters are lost. Set appendonly yes.',
      'operate.md#redis-forgets',
    );
  }
}
