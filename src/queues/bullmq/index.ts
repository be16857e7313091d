export type { BullmqJob, BullmqQueue } from './bullmq.js';
export { bullmqQueue } from './queue.js';
export { bullmqWorker } from './worker.js';
