import { Batch, type BatchOptions } from '../batch.js';
import { byKey } from './claims.js';
import type { Row, Value } from './client.js';
import {
  COMPLETE,
  COMPLETE_STEP,
  FAIL,
  type LeaseStatement,
  RELEASE,
  RENEW,
} from './lease-statements.js';

/** The values of a write, in the order of its statement, as text. */
type Values = Readonly<Record<string, string>> & { readonly key: string; readonly fence: string };

/** Returns the state after the write; `undefined` if the lease has ended. */
type Write = (values: Values) => Promise<string | undefined>;

type Run = (text: string, values: Value[], name?: string) => Promise<readonly Row[]>;

type Limits = Pick<
  BatchOptions<unknown, unknown>,
  'maxRunning' | 'maxItems' | 'maxSize' | 'aloneMs' | 'isFaultOfOne'
>;

/**
 * Dead rows are reusable only after their statement, and those of steps have bodies: with shared statements, a table
 * grows by two fifths more between two vacuums. So steps share a statement only if they had to wait for their turn.
 */
const STEP_ALONE_MS = 50;

/**
 * The writes under leases. Those of one kind that come at the same time share a statement: if each took a statement,
 * a thousand handlers that fail at once would occupy every connection, and keep renewals waiting.
 */
export class LeaseWrites {
  readonly complete: Write;
  readonly renew: Write;
  readonly completeStep: Write;
  readonly fail: Write;
  readonly release: Write;

  constructor(run: Run, limits: Limits) {
    this.complete = sharing(COMPLETE, run, limits);
    this.renew = sharing(RENEW, run, limits);
    this.completeStep = sharing(COMPLETE_STEP, run, { ...limits, aloneMs: STEP_ALONE_MS });
    this.fail = sharing(FAIL, run, limits);
    this.release = sharing(RELEASE, run, limits);
  }
}

function sharing({ name, one, all }: LeaseStatement, run: Run, limits: Limits): Write {
  const write = async (writes: readonly Values[]) => {
    const [first, ...others] = writes;
    if (first && others.length === 0) {
      const [row] = await run(one, Object.values(first), name);
      return [row?.text('state')];
    }
    const rows = byKey(await run(all, [JSON.stringify(writes)]));
    return writes.map(({ key }) => rows.get(key)?.text('state'));
  };
  const batch = new Batch<Values, string | undefined>(write, { ...limits, sizeOf, keyOf });
  return (values) => batch.add(values);
}

function sizeOf(values: Values): number {
  return Object.values(values).reduce((size, value) => size + value.length, 0);
}

function keyOf({ key }: Values): string {
  return key;
}
