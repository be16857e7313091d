import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders = new Set<string>();

/** Creates a folder that is removed after the current file of tests. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'webhooks-'));
  folders.add(folder);
  return folder;
}

/** Removes the folders of {@link newFolder}. */
export function removeNewFolders(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  folders.clear();
}
