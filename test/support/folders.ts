import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders = new Set<string>();

/** Makes a folder that is removed after the file of tests that runs now. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'webhooks-'));
  folders.add(folder);
  return folder;
}

/** Removes what {@link newFolder} has made. */
export function removeNewFolders(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  folders.clear();
}
