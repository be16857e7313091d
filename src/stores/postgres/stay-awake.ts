import { hasMethods } from '../platform.js';
import { optionOf } from '../size-limits.js';
import { Gate } from './gate.js';

/** Half of the time for which docs/stores.md lets a connection be silent. */
const PING_MS = 2_000;
/** In 15 minutes. After that, the limit ends the transaction of work that never ends, and so frees its locks. */
const MAX_PINGS = 450;

export interface RunsTexts {
  unsafe(text: string): PromiseLike<unknown>;
}

/** Notes whether a COPY has begun, which no other statement may interrupt. */
export class CopyGate extends Gate {
  hasCopied = false;

  override refusal(text: () => string) {
    this.hasCopied ||= /^\s*copy\b/i.test(text());
    return super.refusal(text);
  }
}

/** Returns whether the connections end by themselves when they are silent: `socket` is the only way to have that. */
export function endsSilence(sql: unknown): boolean {
  return typeof optionOf(sql, 'options', 'socket') === 'function';
}

/**
 * Keeps a connection from falling silent while the work waits for something else, such as another service. Returns a
 * function that stops it. The statement is empty, so that it also succeeds in a transaction or savepoint that has
 * failed. The next one waits for its answer: each write would extend the life of a connection that is dead.
 */
export function stayAwake(tx: unknown, gate: CopyGate): () => void {
  if (!runsTexts(tx)) return () => {};
  let isAnswered = true;
  let pings = 0;
  const timer = setInterval(async () => {
    if (!isAnswered || gate.hasCopied || ++pings > MAX_PINGS) return;
    isAnswered = false;
    try {
      await tx.unsafe('');
      isAnswered = true;
    } catch {}
  }, PING_MS);
  timer.unref?.();
  return () => clearInterval(timer);
}

export function runsTexts(tx: unknown): tx is RunsTexts {
  return hasMethods(tx, 'unsafe');
}
