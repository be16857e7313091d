import type { Issue } from '../schemas/issue.js';

/** What each method of the client takes. */
export interface CallOptions {
  /** Ends the call, its retries and its pauses, and rejects with its reason. Without it, time-outs do. */
  signal?: AbortSignal;
}

/** What each method takes that gives records. */
export interface ReadOptions extends CallOptions {
  /**
   * Told of each record with fields that do not fit, as it came, and of what is wrong with it. In a list,
   * a record that lacks what every record has is told here and left out. Without it, such a record rejects
   * the call (`response_invalid`), and other fields that do not fit are `undefined`.
   */
  onIssues?: (record: unknown, issues: readonly Issue[]) => void;
}

/** What a list method takes. */
export interface ListOptions extends ReadOptions {
  /** The page to begin with. Default 1. */
  page?: number;
  /** How many records a page has, 10 to 50. Default: the provider's, 20. */
  perPage?: number;
}

/** What each method takes that sends parameters. */
export interface SendOptions extends ReadOptions {
  /** Parameters that the specification does not name, sent beside the others. Default: none. */
  extra?: Readonly<Record<string, unknown>>;
}

const READ = ['signal', 'onIssues'] as const;

/** The names of the options, by the kind of endpoint. */
export const OPTION_NAMES = {
  list: [...READ, 'page', 'perPage'] satisfies (keyof ListOptions)[],
  get: [...READ] satisfies (keyof ReadOptions)[],
  create: [...READ, 'extra'] satisfies (keyof SendOptions)[],
  update: [...READ, 'extra'] satisfies (keyof SendOptions)[],
  delete: ['signal'] satisfies (keyof CallOptions)[],
};
