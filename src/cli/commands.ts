import type { Command } from 'commander';
import type { Session } from './session.js';

type Add = (program: Command, session: Session) => void;

/** The commands, in the order of the help. Each loads its code when it is named. */
const COMMANDS: Readonly<Record<string, () => Promise<Add>>> = {
  sandbox: async () => (await import('./sandbox.js')).addSandbox,
  send: async () => (await import('./send.js')).addSend,
  replay: async () => (await import('./replay.js')).addReplay,
  record: async () => (await import('./record.js')).addRecord,
  save: async () => (await import('./save.js')).addSave,
  sign: async () => (await import('./sign.js')).addSign,
  verify: async () => (await import('./verify.js')).addVerify,
  dead: async () => (await import('./dead.js')).addDead,
  recover: async () => (await import('./recover.js')).addRecover,
  reconcile: async () => (await import('./reconcile.js')).addReconcile,
  drill: async () => (await import('./drill.js')).addDrill,
  doctor: async () => (await import('./doctor.js')).addDoctor,
  check: async () => (await import('./check.js')).addCheck,
  completion: async () => (await import('./completion.js')).addCompletion,
};

/**
 * Loads what the arguments need: the command that they name, nothing for the version, and otherwise all commands, for
 * the help, for a suggestion and for the completion.
 */
export async function loadCommands(args: readonly string[]): Promise<readonly Add[]> {
  const [first = ''] = args;
  if (first === '--version' || first === '-V') return [];
  const load = Object.hasOwn(COMMANDS, first) && first !== 'completion' && COMMANDS[first];
  return load ? [await load()] : Promise.all(Object.values(COMMANDS).map((one) => one()));
}
