import type { ChildProcess } from 'node:child_process';
import { kill, nextMessage, startChild } from './children.js';
import type { Call } from './linearizable.js';
import type { ClaimsAnswer, ClaimsQuestion, Step } from './messages.js';
import { CLOCKS_MS } from './receivers.js';
import type { TestedStore } from './stores.js';

/** Processes that use the store directly, each with its own connections and clock. */
export class Claimers {
  readonly #children: ChildProcess[] = [];
  readonly #waiting = new Map<number, (answer: ClaimsAnswer) => void>();
  #id = 0;

  async start(store: TestedStore, count: number): Promise<void> {
    for (let index = 0; index < count; index++) {
      const clock = CLOCKS_MS[index % CLOCKS_MS.length] ?? 0;
      this.#children.push(
        startChild(store.node, store.programs.claims, {
          ...store.environment,
          CHAOS_CLOCK_MS: `${clock}`,
        }),
      );
    }
    await Promise.all(this.#children.map((child) => nextMessage(child, () => true)));
    for (const child of this.#children) {
      child.on('message', (answer: ClaimsAnswer) => this.#waiting.get(answer.id)?.(answer));
    }
  }

  get count(): number {
    return this.#children.length;
  }

  /** Makes one process run these threads in parallel. */
  ask(process: number, threads: readonly (readonly Step[])[]): Promise<readonly Call[]> {
    const id = ++this.#id;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ calls, error }) => {
        this.#waiting.delete(id);
        if (error === undefined) resolve(calls);
        else reject(new Error(`A verb of the store threw: ${error}`));
      });
      const child = this.#children[process % this.#children.length];
      child?.send({ id, threads } satisfies ClaimsQuestion);
    });
  }

  close(): void {
    for (const child of this.#children) kill(child);
  }
}
