export type { ClockMode } from './clock.js';
export type { AnswerFault, Fault, Faults, OperationId, SendFault } from './faults.js';
export type { Listening } from './listen.js';
export type { SandboxOptions } from './options.js';
export { createSandbox, type Sandbox } from './sandbox.js';
export { Refusal, type RefusalCode } from './trade/refusal.js';
export type { Unknowns } from './unknowns.js';
