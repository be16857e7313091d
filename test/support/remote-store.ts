import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { VERBS } from '../../src/stores/contract.js';
import { decode, encode, type Reply } from './remote-answer.js';

/** The other side of a pair of streams, which answers with `answer`: in another process, or in a Worker. */
export class Remote {
  readonly #output: Writable;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #count = 0;

  constructor(input: Readable, output: Writable) {
    this.#output = output;
    createInterface({ input }).on('line', (line) => {
      const reply = decode<Reply>(line);
      this.#waiting.get(reply.call)?.(reply);
      this.#waiting.delete(reply.call);
    });
  }

  /** The verbs of its store, and its further calls; `where` goes with each call. */
  verbs<More extends string>(more: readonly More[], where: object = {}) {
    type Verb = (typeof VERBS)[number] | 'isDone' | More;
    const asking = [...VERBS, 'isDone' as const, ...more].map((verb) => [
      verb,
      (...args: unknown[]) => this.ask(verb, args, where),
    ]);
    return Object.fromEntries(asking) as Record<Verb, (...args: unknown[]) => Promise<never>>;
  }

  ask(verb: string, args: readonly unknown[] = [], where: object = {}): Promise<never> {
    return new Promise((resolve, reject) => {
      const call = ++this.#count;
      this.#waiting.set(call, ({ result, error }) => {
        if (error) reject(Object.assign(new Error(error.message), { code: error.code }));
        else resolve(result as never);
      });
      this.#output.write(`${encode({ call, verb, args, ...where })}\n`);
    });
  }

  /** Rejects all pending calls. */
  end(message: string): void {
    for (const [call, settle] of this.#waiting) settle({ call, error: { message } });
  }
}
