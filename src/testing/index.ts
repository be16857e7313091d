export { sign } from '../request/signature.js';
export {
  type CrashFinding,
  type CrashOptions,
  type CrashReport,
  crashPoints,
} from './crash/crash-points.js';
export type { Fixture, Signing } from './fixture.js';
export { loadFixture, shippedFixtures } from './load.js';
export type { ReplayFaults } from './prepare.js';
export { testQueue } from './queue/test-queue.js';
export type { QueueCapability, QueueSuite, TestedQueue } from './queue/tested-queue.js';
export { type ReplayManyOptions, type ReplayOptions, type ReplayResult, replay } from './replay.js';
export { type StoreSuite, testStore } from './store/test-store.js';
export type { TestRunner } from './suite.js';
export type { ReplayTarget } from './target.js';
