/** What pg-boss runs a statement with, such as a transaction of yours. */
export interface BossDatabase {
  executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

/** What is used of a job of pg-boss. */
export interface BossJob {
  readonly id: string;
  readonly data: unknown;
  readonly retryCount: number;
  readonly retryLimit: number;
  readonly retryBackoff: boolean;
}

/** The settings of a queue, by the names of pg-boss 10 and of later ones. */
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

interface InTransaction {
  db?: BossDatabase;
}

/** What is used of a `PgBoss` that was started: it is known by its methods, so this package does not load it. */
export interface Boss {
  getQueue(name: string): Promise<object | null>;
  createQueue(name: string, options: BossQueueOptions): Promise<void>;
  send(
    name: string,
    data: object,
    options: InTransaction & { id?: string; deadLetter?: string; startAfter?: number },
  ): Promise<string | null>;
  getJobById(
    name: string,
    id: string,
    options: InTransaction & { includeArchive: boolean },
  ): Promise<{ readonly state: string } | null>;
  deleteJob(name: string, id: string, options: InTransaction): Promise<unknown>;
  work(
    name: string,
    options: { includeMetadata: true; batchSize: number; pollingIntervalSeconds: number },
    handler: (jobs: BossJob[]) => Promise<unknown>,
  ): Promise<string>;
  notifyWorker(workerId: string): void;
  getDb?(): BossDatabase;
}
