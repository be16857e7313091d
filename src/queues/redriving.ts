/** How long a redrive waits for a job that is running, which is less than the receiver waits for it. */
const ACTIVE_MS = 3_000;

/**
 * Looks at a job until it is not running any more. A delivery is dead in the store a moment before the
 * queue has noted that its last attempt has ended: to redrive it then would do nothing.
 *
 * One that goes on running is left alone: it is being processed, or its worker has died, and then the
 * queue has it processed again.
 */
export async function afterActive<Found extends { readonly state: string }>(
  signal: AbortSignal,
  look: () => Promise<Found | null | undefined>,
): Promise<Found | null | undefined> {
  const giveUpAt = performance.now() + ACTIVE_MS;
  for (;;) {
    signal.throwIfAborted();
    const found = await look();
    if (found?.state !== 'active' || performance.now() > giveUpAt) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
