import type { Issue } from '../schemas/issue.js';
import type { FetchResponse } from './fetch.js';

/** Options of every method of the client. */
export interface CallOptions {
  /**
   * Aborts the call, its retries and its pauses. The call rejects with the signal's reason. Without it, only
   * time-outs end the call.
   */
  signal?: AbortSignal;
  /**
   * The longest time that one try of this call may take, including its answer. Default: the client's
   * `timeout`.
   */
  timeout?: number;
  /** How often this call is retried. 0 sends it once. Default: the client's `retries`. */
  retries?: number;
  /**
   * Called after each try of this call, in addition to the client's `onAttempt`. It has the headers of the
   * answer. Default: only the client's is called.
   */
  onAttempt?: (attempt: ApiAttempt) => void;
}

/** Options of the methods that return records. */
export interface ReadOptions extends CallOptions {
  /**
   * Called for each record with fields that do not fit, with the record as it arrived and a list of its
   * faults. A list then leaves out each record that lacks a required field. Without it, such a record rejects
   * the call (`response_invalid`), and other fields that do not fit are `undefined`.
   */
  onIssues?: (record: unknown, issues: readonly Issue[]) => void;
}

/** Options of the list methods. */
export interface ListOptions extends ReadOptions {
  /** The first page to read. Default 1. */
  page?: number;
  /** The number of records in a page, 10 to 50. Default: the provider's, 20. */
  perPage?: number;
}

/** Options of the methods that send parameters. */
export interface SendOptions extends ReadOptions {
  /** Parameters that the specification does not name, sent in addition to the others. Default: none. */
  extra?: Readonly<Record<string, unknown>>;
}

const CALL = ['signal', 'timeout', 'retries', 'onAttempt'] as const;
const READ = [...CALL, 'onIssues'] as const;

/** The names of the options of each kind of endpoint. */
export const OPTION_NAMES = {
  list: [...READ, 'page', 'perPage'] satisfies (keyof ListOptions)[],
  get: [...READ] satisfies (keyof ReadOptions)[],
  create: [...READ, 'extra'] satisfies (keyof SendOptions)[],
  update: [...READ, 'extra'] satisfies (keyof SendOptions)[],
  delete: [...CALL] satisfies (keyof CallOptions)[],
};

/** One try of a call. It holds no credentials, and nothing of a body. */
export interface ApiAttempt {
  /** The method of the client that was called, such as `products.get`. */
  readonly operation: string;
  readonly url: string;
  /** The number of the try, from 1 on. */
  readonly attempt: number;
  /** The HTTP status; `undefined` if no complete answer arrived. */
  readonly status: number | undefined;
  /** The headers of the answer; `undefined` if no complete answer arrived. */
  readonly headers: FetchResponse['headers'] | undefined;
  /** Why no complete answer arrived, such as `ECONNREFUSED`. */
  readonly fault: string | undefined;
  /** How long the try took, including its answer, in milliseconds. */
  readonly durationMs: number;
  /** The milliseconds until the client retries; `undefined` if it does not. */
  readonly retryInMs: number | undefined;
}
