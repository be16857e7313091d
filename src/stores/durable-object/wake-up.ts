/** The part of an object's storage that wakes it up. */
export interface Alarms {
  getAlarm(): Promise<number | null>;
  setAlarm(time: number): Promise<void>;
}

/** How long the object sleeps at least, where nothing more is due. */
const PAUSE_MS = 60_000;
/** Behind the time at which something is due, so that it surely is. */
const SLACK_MS = 1_000;

/**
 * Wakes the object up when something is to be purged. A write of the storage is needed only where that is
 * sooner than it would wake up in any case: with each delivery kept as long as the one before, never.
 */
export class WakeUp {
  readonly #alarms: Alarms;
  /** When it wakes up, as far as is known since the object was started. */
  #at: number | undefined;
  #notBefore = 0;

  constructor(alarms: Alarms) {
    this.#alarms = alarms;
  }

  /** Something will be due at that time. */
  async by(due: number): Promise<void> {
    const time = Math.max(due + SLACK_MS, this.#notBefore);
    this.#at ??= (await this.#alarms.getAlarm()) ?? Number.POSITIVE_INFINITY;
    if (time >= this.#at) return;
    await this.#alarms.setAlarm(time);
    this.#at = time;
  }

  /** It has woken up: whatever was set is no more. */
  ring(): void {
    this.#at = undefined;
    this.#notBefore = Date.now() + PAUSE_MS;
  }

  /** More is due by now: there is no pause. */
  hurry(): void {
    this.#notBefore = 0;
  }
}
