import type { Job } from '../job.js';

/** What is used of a job of BullMQ. */
export interface BullmqJob {
  readonly id?: string | undefined;
  readonly data: unknown;
  /** Of this attempt: what is set here is not kept. */
  opts: { readonly attempts?: number | undefined; readonly backoff?: JobTerms['backoff'] };
  /** How often it has failed. */
  readonly attemptsMade: number;
  /** How often it has been begun, for whatever it ended in. */
  readonly attemptsStarted?: number;
  moveToDelayed(timestamp: number, token?: string): Promise<void>;
  /** To be taken at once. */
  moveToWait(token?: string): Promise<unknown>;
}

/** What is used of a job that is looked up. */
export interface StoredJob {
  getState(): Promise<string>;
  retry(
    state: 'completed' | 'failed',
    options: { resetAttemptsMade: boolean; resetAttemptsStarted: boolean },
  ): Promise<void>;
  promote(): Promise<void>;
}

/** How a job is to be kept and tried again. */
export interface JobTerms {
  attempts?: number;
  backoff?: number | { type: string; delay?: number; jitter?: number };
  removeOnComplete?: boolean | number | { age: number; count?: number } | { count: number };
}

/** What is used of a `Queue` of BullMQ: it is known by its methods, so this package does not load BullMQ. */
export interface BullmqQueue {
  readonly name?: string;
  readonly defaultJobOptions?: JobTerms;
  add(
    name: string,
    data: Job,
    options: JobTerms & { jobId: string; removeOnFail: boolean },
  ): Promise<{ readonly id?: string | undefined }>;
  getJob(id: string): Promise<StoredJob | undefined>;
  /** Has the connection to Redis. */
  getBackend?(): object;
}
