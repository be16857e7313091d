import type { Task } from '../messages.js';
import { openDatabase } from './database-sync.js';
import { sqliteFile } from './open.js';

async function run(task: Task): Promise<unknown> {
  switch (task.task) {
    case 'sql': {
      const database = openDatabase(sqliteFile);
      return task.statements.map((sql) => database.prepare(sql).all());
    }
    case 'rates':
      return (await import('./rates.js')).measureRates(task);
    case 'batching':
      return (await import('./rates.js')).measureBatching(task);
    case 'purging':
      return (await import('./purging.js')).measurePurging(task);
    case 'sizes':
      return (await import('./sizes.js')).measureSizes(task);
  }
}

async function main(): Promise<void> {
  const result = await run(JSON.parse(process.env.CHAOS_TASK ?? '') as Task);
  process.send?.({ result }, () => process.exit(0));
}

void main();
