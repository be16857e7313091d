/** The object that pg-boss runs a statement with, such as your own transaction. */
export interface BossDatabase {
  executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

/** The part of a pg-boss job that the worker uses. */
export interface BossJob {
  readonly id: string;
  readonly data: unknown;
  readonly retryCount: number;
  readonly retryLimit: number;
  readonly retryBackoff: boolean;
}

/** The settings of a queue, by their names in pg-boss 10 and in later versions. */
export interface BossQueueOptions {
  name: string;
  retryLimit: number;
  retryDelay: number;
  retryBackoff: boolean;
  expireInSeconds: number;
  heartbeatSeconds: number;
  retentionMinutes: number;
  retentionSeconds: number;
  deleteAfterSeconds: number;
  deadLetter?: string;
}

/** The part of a looked-up job that the queue uses. */
export type StoredJob = Pick<BossJob, 'retryCount' | 'retryLimit'> & { readonly state: string };

interface InTransaction {
  db?: BossDatabase;
}

/** The part of a started `PgBoss` that is used. Checked by its methods, so that this package does not load it. */
export interface Boss {
  getQueue(name: string): Promise<object | null>;
  createQueue(name: string, options: BossQueueOptions): Promise<void>;
  updateQueue(name: string, options?: { deadLetter?: string }): Promise<unknown>;
  send(
    name: string,
    data: object,
    options: InTransaction & {
      id?: string;
      deadLetter?: string;
      startAfter?: number;
      retryLimit?: number;
    },
  ): Promise<string | null>;
  getJobById(
    name: string,
    id: string,
    options: InTransaction & { includeArchive: boolean },
  ): Promise<StoredJob | null>;
  deleteJob(name: string, id: string, options: InTransaction): Promise<unknown>;
  work(
    name: string,
    options: { includeMetadata: true; batchSize: number; pollingIntervalSeconds: number },
    handler: (jobs: BossJob[]) => Promise<unknown>,
  ): Promise<string>;
  notifyWorker(workerId: string): void;
  /** pg-boss 10 reads only the name, and ends all workers of the queue. */
  offWork(name: string, options: { id: string; wait: false }): Promise<void>;
  getDb?(): BossDatabase;
}
