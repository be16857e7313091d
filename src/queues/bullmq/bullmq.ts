import type { Job } from '../job.js';

/** The part of a BullMQ job that the worker uses. */
export interface BullmqJob {
  readonly id?: string | undefined;
  readonly data: unknown;
  /** The options of this attempt. BullMQ does not store changes to them. */
  opts: {
    readonly attempts?: number | undefined;
    readonly backoff?: JobTerms['backoff'];
  };
  /** How often the job has failed. */
  readonly attemptsMade: number;
  /** How often the job has been started, whatever the result. */
  readonly attemptsStarted?: number;
  moveToDelayed(timestamp: number, token?: string): Promise<void>;
  /** Puts the job back, so that a worker takes it at once. BullMQ 5.0 does not have it. */
  moveToWait?(token?: string): Promise<unknown>;
}

/** The part of a looked-up job that the queue uses. */
export interface StoredJob {
  getState(): Promise<string>;
  promote(): Promise<void>;
  remove(): Promise<unknown>;
}

/** The options of a job: its retries, and how long BullMQ keeps it. */
export interface JobTerms {
  attempts?: number;
  backoff?: number | { type: string; delay?: number; jitter?: number };
  removeOnComplete?: boolean | number | { age: number; count?: number } | { count: number };
}

/**
 * The part of a BullMQ `Queue` that is used. Checked by its methods, so that this package does not load BullMQ.
 */
export interface BullmqQueue {
  readonly name?: string;
  // In BullMQ 5.0 to 5.66, a limit of kept jobs may have no `age`.
  readonly defaultJobOptions?: Omit<JobTerms, 'removeOnComplete'> & {
    removeOnComplete?: boolean | number | { age?: number; count?: number };
  };
  add(
    name: string,
    data: Job,
    options: JobTerms & { jobId: string; removeOnFail: boolean },
  ): Promise<{ readonly id?: string | undefined }>;
  getJob(id: string): Promise<StoredJob | undefined>;
  getJobState(id: string): Promise<string>;
  /** Returns the holder of the Redis connection. In BullMQ 5, that is the queue itself. */
  getBackend?(): object;
}
