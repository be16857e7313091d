import { pathToFileURL } from 'node:url';
import { installed } from '../../runtimes/installed.js';

/** A driver that every checkout has, on each Node. */
export const LIBSQL = import.meta.resolve('libsql');

/** Every driver of SQLite, with a runtime that has it. */
export const drivers = [
  {
    name: 'node:sqlite on Node 22',
    command: [installed('node22/bin/node'), '--no-warnings'],
    driver: 'node:sqlite',
  },
  {
    name: 'node:sqlite on Node 24',
    command: [installed('node24/bin/node')],
    driver: 'node:sqlite',
  },
  {
    name: 'node:sqlite on Node 26',
    command: [installed('node26/bin/node')],
    driver: 'node:sqlite',
  },
  {
    name: 'node:sqlite on Deno',
    command: [installed('.bin/deno'), 'run', '-A'],
    driver: 'node:sqlite',
  },
  { name: 'bun:sqlite', command: [installed('.bin/bun')], driver: 'bun:sqlite' },
  {
    name: 'better-sqlite3',
    // The binary of better-sqlite3 fits one version of Node: npm chooses it for the first Node that is installed beside it.
    command: [installed('node20/bin/node')],
    driver: pathToFileURL(installed('better-sqlite3/lib/index.js')).href,
  },
  {
    name: 'libsql',
    command: [installed('node20/bin/node')],
    driver: LIBSQL,
  },
] as const;
