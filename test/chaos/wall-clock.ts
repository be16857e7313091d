import { execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from './children.js';

/** The date and time of processes that share a machine: libfaketime reads it from a file. */
export class WallClock {
  readonly #folder = mkdtempSync(join(tmpdir(), 'wh-clock-'));
  readonly #file = join(this.#folder, 'offset');
  #offsetMs = 0;
  /** For the processes whose clock this is. */
  readonly environment: Environment = {
    LD_PRELOAD: findLibrary(),
    FAKETIME_TIMESTAMP_FILE: this.#file,
    FAKETIME_NO_CACHE: '1',
    // As on a real machine, a jump does not move the timers.
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };

  constructor() {
    process.once('exit', () => this.remove());
    this.jump(0);
  }

  /** Moves the clock forward, or back if the number is negative. */
  jump(ms: number): void {
    this.#offsetMs += ms;
    const sign = this.#offsetMs < 0 ? '' : '+';
    // In one step, so that no process reads half of a number.
    writeFileSync(`${this.#file}.new`, `${sign}${this.#offsetMs / 1_000}`);
    renameSync(`${this.#file}.new`, this.#file);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function findLibrary(): string {
  try {
    const files = execFileSync('dpkg', ['-L', 'libfaketime'], { encoding: 'utf8' }).split('\n');
    const library = files.find((file) => file.endsWith('/libfaketime.so.1'));
    if (library) return library;
  } catch {}
  throw new Error('libfaketime is not installed: apt-get install libfaketime');
}
