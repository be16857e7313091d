import type { Page } from '../explained.js';
import { harmless } from './harmless.js';
import { writeLine } from './log.js';

const MINUTE_MS = 60_000;
/** Topics that senders can make up share one beyond so many. */
const MAX_TOPICS = 100;

interface Topic {
  /** When the minute began that is being counted. */
  since: number;
  written: number;
  held: number;
  /** The line for those that were held back. */
  latest: (count: number) => void;
}

/**
 * Bounds how much is told: of each topic a few at once, and what comes after them within the minute is
 * counted and told together at its end.
 */
export class Limited {
  readonly #topics = new Map<string, Topic>();

  /**
   * @param write - Given how many it tells of.
   * @param atOnce - How many of this topic are told by themselves in a minute.
   */
  tell(name: string, write: (count: number) => void, atOnce = 1): void {
    const topic = this.#topicOf(name);
    this.#turn(topic);
    if (topic.written < atOnce) {
      topic.written += 1;
      write(1);
      return;
    }
    topic.held += 1;
    topic.latest = write;
    // A sender that gives up is told of, too. Not on every runtime: there, the next one brings it along.
    if (topic.held === 1) this.#wakeUp(topic);
  }

  /** Tells at once what was held back. */
  flush(): void {
    for (const topic of this.#topics.values()) this.#release(topic);
  }

  #topicOf(name: string): Topic {
    const known = this.#topics.get(name);
    if (known) return known;
    if (this.#topics.size >= MAX_TOPICS) return this.#topicOf('');
    const topic = { since: performance.now(), written: 0, held: 0, latest: () => {} };
    this.#topics.set(name, topic);
    return topic;
  }

  /** Begins another minute where one is over. */
  #turn(topic: Topic): void {
    if (performance.now() - topic.since < MINUTE_MS) return;
    const { held } = topic;
    this.#release(topic);
    topic.since = performance.now();
    topic.written = held > 0 ? 1 : 0;
  }

  #release(topic: Topic): void {
    const { held, latest } = topic;
    topic.held = 0;
    if (held > 0) latest(held);
  }

  #wakeUp(topic: Topic): void {
    const leftMs = topic.since + MINUTE_MS - performance.now();
    harmless(() => {
      const timer = setTimeout(() => this.#turn(topic), Math.max(leftMs, 0) + 1);
      // It must not keep a process alive. Elsewhere than on Node, a timer is a number.
      timer.unref?.();
    });
  }
}

/** Tells of a kind of trouble on stderr. */
export type Tell = (page: Page, text: string) => void;

/** Tells ten of each kind a minute, of what anybody may cause, or a queue may be full of. */
export function teller(): Tell {
  const limited = new Limited();
  const more = (count: number) =>
    count === 1 ? '' : `within a minute, ${count} more; the latest: `;
  return (page, text) =>
    limited.tell(page, (count) => writeLine(`${more(count)}${text}`, page), 10);
}
