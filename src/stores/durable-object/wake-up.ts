/** The part of an object's storage that sets its alarm. */
export interface Alarms {
  getAlarm(): Promise<number | null>;
  setAlarm(time: number): Promise<void>;
}

/** The shortest sleep of the object, unless more is due. */
const PAUSE_MS = 60_000;
/** Added to the time at which something is due, so that it is certainly due by then. */
const SLACK_MS = 1_000;

/**
 * Wakes the object up when there is something to purge. Only writes to the storage if that is before the current
 * alarm, so never while each delivery is kept as long as the one before.
 */
export class WakeUp {
  readonly #alarms: Alarms;
  /** The time of the alarm; `undefined` until it was read from the storage. */
  #at: number | undefined;
  #notBefore = 0;

  constructor(alarms: Alarms) {
    this.#alarms = alarms;
  }

  /** Makes sure that the object wakes up once something is due. */
  async by(due: number): Promise<void> {
    const time = Math.max(due + SLACK_MS, this.#notBefore);
    this.#at ??= (await this.#alarms.getAlarm()) ?? Number.POSITIVE_INFINITY;
    if (time >= this.#at) return;
    await this.#alarms.setAlarm(time);
    this.#at = time;
  }

  /** Records that the alarm has fired, so that none is set. */
  ring(): void {
    this.#at = undefined;
    this.#notBefore = Date.now() + PAUSE_MS;
  }

  /** Skips the pause, because more is due already. */
  hurry(): void {
    this.#notBefore = 0;
  }
}
