import { WebhookError } from '../errors/errors.js';
import { describeError } from '../errors/text.js';
import { HandlerEvent, stepName } from '../process/handler-event.js';
import { Idempotency } from '../process/idempotency.js';
import { InFlight } from '../process/in-flight.js';
import type { Lease, Work } from '../process/lease.js';
import type { Load } from '../process/load.js';
import type { Reporter } from '../report/hooks.js';
import { watched } from '../report/telemetry.js';
import type { Dispatched } from '../request/outcome.js';
import { warnOfMemory } from '../stores/platform.js';
import type { MakeGoods } from './options.js';
import type { GoodsSettings } from './read-options.js';
import { GOODS, type VerifiedCall } from './request.js';
import { type KeptGoods, packGoods, unpackGoods } from './stored-goods.js';

// The provider may not retry, so a call waits a little longer than the lease of a killed process lasts.
const TIMING = { leaseMs: 10_000, renewMs: 3_000, waitMs: 15_000 };

const STEP = stepName(GOODS);

/** The outcome of a call, and its goods. */
export type Given = Dispatched & { readonly goods?: KeptGoods | undefined };

/** Runs steps 4 to 6 of a call: makes the goods of each key once, and returns the stored goods after that. */
export class Producer {
  readonly #settings: GoodsSettings;
  readonly #make: MakeGoods;
  readonly #reporter: Reporter;
  readonly #idempotency: Idempotency;
  readonly #inFlight: InFlight<Given>;

  constructor(settings: GoodsSettings, make: MakeGoods, reporter: Reporter, load: Load) {
    const { store, timeoutMs } = settings;
    this.#settings = settings;
    this.#make = make;
    this.#reporter = reporter;
    this.#inFlight = new InFlight(timeoutMs + TIMING.waitMs);
    this.#idempotency = new Idempotency(store, { ...TIMING, timeoutMs }, load, (error, subject) => {
      // An unrecorded release is harmless, because goods are sent only after they are recorded. At worst, the next call waits for the lease.
      const isHarmless = error instanceof WebhookError && error.code === 'outcome_unrecorded';
      if (!isHarmless) reporter.error(error, subject ?? {});
    });
  }

  give(call: VerifiedCall): Promise<Given> {
    if (this.#settings.isDefaultStore) warnOfMemory();
    return this.#inFlight.join(call.key, () => this.#giveOnce(call));
  }

  /** Resolves once the store has recorded what is still pending. No call waits for it. */
  get recording(): Promise<unknown> | undefined {
    return this.#reporter.after(this.#idempotency.recording);
  }

  /** Takes no more calls and waits up to `timeoutMs` for running ones. Resolves to whether all have ended. */
  close(timeoutMs: number): Promise<boolean> {
    return this.#idempotency.close(timeoutMs, () => this.#inFlight.running);
  }

  async #giveOnce(call: VerifiedCall): Promise<Given> {
    const { key, scope, id, event } = call;
    // Without a body: nothing here retries a call, so the store keeps only the goods.
    const subject = {
      key,
      scope,
      id,
      event,
      receivedAt: call.receivedAt.getTime(),
      body: undefined,
    };
    let goods: KeptGoods | undefined;
    // Recorded goods are sent even if another process has taken the lease, so later errors do not matter.
    const onError = (error: WebhookError, attempt?: number) =>
      goods || this.#tell(error, call, { attempt });
    const terms = { keepMs: Number.POSITIVE_INFINITY, onError };
    const result = await this.#idempotency.doOnce(subject, terms, (lease) =>
      this.#run(lease, call, (recorded) => {
        goods = recorded;
      }),
    );
    if (goods) {
      const { ran } = result;
      return { ...result, outcome: ran.length > 0 ? 'handled' : 'duplicate', goods };
    }
    if (UNDONE.has(result.outcome)) return result;
    // Something else has written into the store. Do not send anything in place of the goods.
    const message = 'The store marks the goods of this order as made, but does not hold them.';
    this.#tell(new WebhookError('store_invalid', message), call);
    return { ...result, outcome: 'failed' };
  }

  /** Passes recorded goods to `give`, or makes and records them first. Never rejects. */
  async #run(lease: Lease, call: VerifiedCall, give: (goods: KeptGoods) => void): Promise<Work> {
    const { attempt } = lease;
    try {
      if (Object.hasOwn(lease.steps, STEP)) {
        give(unpackGoods(lease.steps[STEP]));
        return { state: 'kept', ran: [] };
      }
      // Earlier work may have blocked this process for longer than the lease.
      if (lease.hasEnded()) return { state: 'busy', ran: [] };
      const made = packGoods(await this.#makeUnder(lease, call));
      const recorded = await this.#record(lease, made, call);
      if (!recorded) return { state: 'unavailable', ran: [] };
      lease.isDone = true;
      give(unpackGoods(made));
      return { state: 'kept', ran: [GOODS] };
    } catch (error) {
      this.#tell(error, call, { handler: GOODS, attempt });
      return { state: 'failed', error: describeError(error), ran: [] };
    }
  }

  async #makeUnder(lease: Lease, call: VerifiedCall): Promise<unknown> {
    const { attempt } = lease;
    const event = new HandlerEvent(call, call.payload, attempt, GOODS, lease);
    const make = async () => {
      try {
        const made = await this.#make(call.payload, event);
        for (let left = event.unawaited(); left.length; left = event.unawaited())
          await Promise.all(left);
        return made;
      } catch (error) {
        for (let left = event.unawaited(); left.length; left = event.unawaited())
          await Promise.allSettled(left);
        throw error;
      }
    };
    const { telemetry } = this.#settings;
    if (!telemetry) return make();
    let made: unknown;
    // Telemetry gets no goods.
    await watched<undefined>(
      (run) => telemetry.handler({ name: GOODS, attempt }, run),
      async () => {
        made = await make();
      },
    );
    return made;
  }

  async #record(
    lease: Lease,
    made: ReturnType<typeof packGoods>,
    call: VerifiedCall,
  ): Promise<boolean> {
    try {
      await lease.recordStep(STEP, made);
      return true;
    } catch (cause) {
      // The end of the lease is reported elsewhere.
      if (lease.hasEnded()) return false;
      const message = 'The store could not record the goods, so they were not sent.';
      this.#tell(new WebhookError('store_unavailable', message, { cause }), call);
      return false;
    }
  }

  #tell(
    error: unknown,
    { id, event, scope, payload }: VerifiedCall,
    run: { readonly handler?: string; readonly attempt?: number | undefined } = {},
  ): void {
    this.#reporter.error(error, { id, event, scope, payload, ...run });
  }
}

/** The outcomes after which no goods are recorded. */
const UNDONE: ReadonlySet<Dispatched['outcome']> = new Set(['failed', 'busy', 'unavailable']);
