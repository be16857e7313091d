/** One call of a verb, as a process saw it. Times are in milliseconds of one clock. */
export interface Call {
  readonly verb: 'claim' | 'renew' | 'completeStep' | 'complete' | 'fail' | 'release';
  readonly invoked: number;
  readonly returned: number;
  /** The owner that a claim names. */
  readonly owner?: string;
  /** The lease that a claim or a renewal asks for. */
  readonly leaseMs?: number;
  /** The fence that a verb named, or that a claim was given. */
  readonly fence?: number | undefined;
  /** The result of a claim: `acquired`, `busy`, `done` or `dead`; of any other verb: `accepted` or `refused`. */
  readonly result: string;
}

interface State {
  readonly name: 'none' | 'leased' | 'retry' | 'done';
  readonly owner: string;
  readonly fence: number;
  /** The lease expires at some time between these. */
  readonly lapsesFrom: number;
  readonly lapsesBy: number;
}

/** The precision to which a store may round its clock. */
const ROUNDING_MS = 3;
const NEW: State = { name: 'none', owner: '', fence: 0, lapsesFrom: 0, lapsesBy: 0 };

/**
 * Returns whether the calls on one key can be ordered so that they fit both the real time and the claim state
 * machine (Wing and Gong's search, which remembers the orders it has tried).
 */
export function isLinearizable(history: readonly Call[]): boolean {
  const tried = new Set<string>();
  const pending = history.toSorted((a, b) => a.invoked - b.invoked);
  return search(pending, NEW, tried, new Map(pending.map((call, index) => [call, index])));
}

function search(
  pending: readonly Call[],
  state: State,
  tried: Set<string>,
  names: ReadonlyMap<Call, number>,
): boolean {
  if (pending.length === 0) return true;
  const situation = `${pending.map((call) => names.get(call)).join()} ${JSON.stringify(state)}`;
  if (tried.has(situation)) return false;
  tried.add(situation);

  const firstReturn = Math.min(...pending.map(({ returned }) => returned));
  const steps: { call: Call; next: State }[] = [];
  for (const call of pending) {
    // Another pending call had returned before this one was made, so it comes first.
    if (call.invoked > firstReturn) break;
    const next = apply(state, call);
    // A call that changes nothing can come next: every sequence that fits without it also fits after it.
    if (next === state) return search(without(pending, call), state, tried, names);
    if (next) steps.push({ call, next });
  }
  return steps.some(({ call, next }) => search(without(pending, call), next, tried, names));
}

function without(pending: readonly Call[], call: Call): Call[] {
  return pending.filter((other) => other !== call);
}

/** Returns the state after a call with this result; the same one if it changes nothing; `undefined` if impossible. */
function apply(state: State, call: Call): State | undefined {
  const { verb, result } = call;
  if (verb === 'claim') return applyClaim(state, call);
  const holds = state.name === 'leased' && call.fence === state.fence;
  // Called again after the first answer was lost.
  const ended = verb === 'complete' ? 'done' : 'retry';
  const mayRepeat = verb === 'complete' || verb === 'fail' || verb === 'release';
  const repeats = mayRepeat && state.name === ended && call.fence === state.fence;
  if (result === 'refused') return holds || repeats ? undefined : state;
  if (result !== 'accepted') return undefined;
  if (repeats) return state;
  if (!holds) return undefined;
  switch (verb) {
    case 'renew':
      return { ...state, ...lapse(call) };
    case 'completeStep':
      return state;
    case 'complete':
      return { ...state, name: 'done' };
    case 'fail':
    case 'release':
      return { ...state, name: 'retry' };
  }
}

function applyClaim(state: State, call: Call): State | undefined {
  const { owner = '', fence = 0, result, invoked, returned } = call;
  const isMine = state.name === 'leased' && state.owner === owner;
  switch (result) {
    case 'acquired': {
      if (isMine && fence === state.fence) return { ...state, ...lapse(call) };
      const isFree =
        state.name === 'none' ||
        state.name === 'retry' ||
        (state.name === 'leased' && returned >= state.lapsesFrom);
      if (!isFree || fence <= state.fence) return undefined;
      return { name: 'leased', owner, fence, ...lapse(call) };
    }
    case 'busy':
      return state.name === 'leased' && !isMine && invoked <= state.lapsesBy ? state : undefined;
    case 'done':
      return state.name === 'done' ? state : undefined;
    default:
      return undefined;
  }
}

function lapse({ invoked, returned, leaseMs = 0 }: Call) {
  return {
    lapsesFrom: invoked + leaseMs - ROUNDING_MS,
    lapsesBy: returned + leaseMs + ROUNDING_MS,
  };
}
