import type { Page } from './docs-link.js';
import { safely, writeLine } from './log.js';

const MINUTE_MS = 60_000;
/** The largest number of topics: each handler that fails is one. All further ones share the topic without a name. */
const MAX_TOPICS = 1000;

interface Topic {
  /** The time at which the current minute began. */
  since: number;
  written: number;
  held: number;
  /** Writes the line that counts the messages held back. */
  latest: (count: number) => void;
}

/**
 * Limits the number of messages: writes a few of each topic at once, counts the others of that minute, and writes
 * their number at its end.
 */
export class Limited {
  readonly #topics = new Map<string, Topic>();

  /**
   * @param write - Writes the line. Called with the number of messages that the line stands for.
   * @param atOnce - How many messages of this topic are written one by one in a minute.
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
    // The timer writes the count even if no more messages come. Without timers, the next message writes it.
    if (topic.held === 1) this.#wakeUp(topic);
  }

  /** Writes at once what was held back. */
  flush(): void {
    for (const topic of this.#topics.values()) this.#release(topic);
  }

  #topicOf(name: string): Topic {
    const known = this.#topics.get(name);
    if (known) return known;
    if (name && this.#topics.size >= MAX_TOPICS) return this.#topicOf('');
    const topic = { since: performance.now(), written: 0, held: 0, latest: () => {} };
    this.#topics.set(name, topic);
    return topic;
  }

  /** Begins a new minute if the last one has ended. */
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
    safely(() => {
      const timer = setTimeout(() => this.#turn(topic), leftMs + 1);
      // The timer must not keep a process alive. On runtimes other than Node, a timer is a number.
      timer.unref?.();
    });
  }
}

/** Logs a message on stderr. */
export type Tell = (page: Page, text: string) => void;

/** Logs at most ten messages of each page a minute: senders can cause them, and a queue may be full of them. */
export function teller(): Tell {
  const limited = new Limited();
  const more = (count: number) =>
    count === 1 ? '' : `within a minute, ${count} more; the latest: `;
  return (page, text) =>
    limited.tell(page, (count) => writeLine(`${more(count)}${text}`, page), 10);
}
