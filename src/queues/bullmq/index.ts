export type { BullmqJob, BullmqQueue } from './bullmq.js';
export { bullmqProcessor } from './processor.js';
export { bullmqQueue } from './queue.js';
