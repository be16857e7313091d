import { COUNT_LIMIT } from '../../stores/store.js';

export const STATES = ['dead', 'stalled', 'failing'] as const;

export type State = (typeof STATES)[number];

/** The flags that select deliveries. */
export interface Flags {
  readonly state?: State;
  readonly scope?: string;
  readonly where: readonly string[];
}

/** The meaning of each state, and what an operator can do about it. */
export const MEANING: Readonly<Record<State, string>> = {
  dead: 'nothing runs them any more. Fix the cause, then run dead redrive.',
  stalled: 'interrupted or failed, and not retried since. dead redrive puts them back.',
  failing:
    'due for a retry, and stalled if it is a minute late. To run them now: dead redrive --state failing --to <url>.',
};

/** Returns the note for an empty list. */
export function noneOf({ state, where }: Flags, states: readonly State[]): string {
  const named = state ?? states.join(' or ').replace(/ or (?=.* or )/g, ', ');
  return where.length > 0 ? `No matching delivery is ${named}.` : `No delivery is ${named}.`;
}

/** Returns the note about interrupted deliveries: if one is done, a redrive may deliver its order twice. */
export function mayBeDone(count: number): string {
  return `${count} interrupted, and may be done: check these orders before you redrive them, or leave them out with --where interrupted=false.`;
}

/** Returns what is known of a count: a store does not count further than its limit. */
export function toShown(count: number): string {
  return count < COUNT_LIMIT ? `${count}` : `${count} or more`;
}
