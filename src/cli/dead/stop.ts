import type { Session } from '../session.js';

/** Whether the operator has interrupted a command that puts deliveries back, one after the other. */
export class Stop {
  isAsked = false;
  /** The key of the delivery that has lost its error, but has no line in the output yet. */
  inFlight: string | undefined;

  /** From now on, the first interruption does not end the process. */
  listen({ host, printer }: Session): void {
    void host.interrupted().then(() => {
      this.isAsked = true;
      printer.note(
        this.inFlight === undefined
          ? 'Stopping. Interrupt again to stop at once.'
          : // If the process ends before the answer, no other line names the delivery.
            `Stopping after the answer for ${this.inFlight}. Interrupt again to stop at once: if the shop has not handled this delivery, it is stalled within a minute.`,
      );
    });
  }
}
