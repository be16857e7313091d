export type { Boss, BossDatabase, BossJob } from './boss.js';
export { pgBossQueue } from './queue.js';
export type { BossTransaction } from './transaction.js';
export { type PgBossWorkerOptions, pgBossWorker } from './worker.js';
