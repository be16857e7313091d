import { WebhookError } from '../errors.js';
import type { Dispatched } from '../outcome.js';
import { HandlerEvent, stepName } from '../process/handler-event.js';
import { Idempotency } from '../process/idempotency.js';
import { InFlight } from '../process/in-flight.js';
import type { Lease, Work } from '../process/lease.js';
import type { Reporter } from '../report/hooks.js';
import { watched } from '../report/telemetry.js';
import { describeError } from '../report/text.js';
import { warnOfMemory } from '../stores/platform.js';
import { GOODS, type VerifiedCall } from './call.js';
import { type KeptGoods, packGoods, unpackGoods } from './made.js';
import type { MakeGoods } from './options.js';
import type { GoodsSettings } from './settings.js';

// The provider may not ask again: a call waits for as long as a killed process holds its lease, and then some.
const TIMING = { leaseMs: 10_000, renewMs: 3_000, waitMs: 15_000 };

const STEP = stepName(GOODS);

/** What became of a call, and the goods that it gets. */
export type Given = Dispatched & { readonly goods?: KeptGoods | undefined };

/** Steps 4 to 6 of a call: makes goods once for each key, and gives them again. */
export class Making {
  readonly #settings: GoodsSettings;
  readonly #make: MakeGoods;
  readonly #reporter: Reporter;
  readonly #idempotency: Idempotency;
  readonly #inFlight: InFlight<Given>;

  constructor(settings: GoodsSettings, make: MakeGoods, reporter: Reporter) {
    const { store, timeoutMs } = settings;
    this.#settings = settings;
    this.#make = make;
    this.#reporter = reporter;
    this.#inFlight = new InFlight(timeoutMs + TIMING.waitMs);
    this.#idempotency = new Idempotency(store, { ...TIMING, timeoutMs }, (error, subject) =>
      reporter.error(error, subject ?? {}),
    );
  }

  give(call: VerifiedCall): Promise<Given> {
    if (this.#settings.isDefaultStore) warnOfMemory();
    return this.#inFlight.join(call.key, () => this.#giveOnce(call));
  }

  /** What the store has still to record, which no sender waits for. */
  get recording(): Promise<unknown> | undefined {
    return this.#idempotency.recording;
  }

  /** Takes no more, waits until nothing is running any more, at most `timeoutMs`, and says whether that is so. */
  close(timeoutMs: number): Promise<boolean> {
    return this.#idempotency.close(timeoutMs, () => this.#inFlight.running);
  }

  async #giveOnce(call: VerifiedCall): Promise<Given> {
    const { key, scope, id, event, receivedAt } = call;
    const subject = {
      ...{ key, scope, id, event, receivedAt: receivedAt.getTime() },
      // Never tried again by itself, so there is nothing to keep of it.
      body: undefined,
    };
    let goods: KeptGoods | undefined;
    // Once they are recorded, they are given whoever has taken over.
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
    // Another hand has written into the store: nothing may be answered as if it were the goods.
    const message = 'The store says that the goods were given, and has none.';
    this.#tell(new WebhookError('store_invalid', message), call);
    return { ...result, outcome: 'failed' };
  }

  /** Gives what is recorded, or makes and records it. Nothing is given before it is recorded. Never rejects. */
  async #run(lease: Lease, call: VerifiedCall, give: (goods: KeptGoods) => void): Promise<Work> {
    const { attempt } = lease;
    try {
      if (Object.hasOwn(lease.steps, STEP)) {
        give(unpackGoods(lease.steps[STEP]));
        return { state: 'kept', ran: [] };
      }
      // It may have: whatever ran before it may have held this process up for so long.
      if (lease.hasEnded()) return { state: 'busy', ran: [] };
      const made = packGoods(await this.#makeUnder(lease, call));
      const recorded = await this.#record(lease, made, call);
      if (!recorded) return { state: 'unavailable', ran: [] };
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
    const make = async () => this.#make(call.payload, event);
    const { telemetry } = this.#settings;
    if (!telemetry) return make();
    return watched((run) => telemetry.handler({ name: GOODS, attempt }, run), make);
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
      // Where its lease has ended, that is told.
      if (lease.hasEnded()) return false;
      const message = 'The store could not take the goods, so they were not given.';
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

/** That says of itself that nothing is done. */
const UNDONE: ReadonlySet<Dispatched['outcome']> = new Set(['failed', 'busy', 'unavailable']);
