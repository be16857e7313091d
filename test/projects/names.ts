import { readdirSync } from 'node:fs';

/** The small projects: each is a folder here. */
export const projects = readdirSync(import.meta.dirname, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
