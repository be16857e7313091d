import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';

/** Gives each test of a file a new folder, and a path in it for the database of a sandbox. */
export function useSandboxFile(): { readonly folder: string; db: string } {
  const file = { folder: '', db: '' };
  beforeEach(() => {
    file.folder = mkdtempSync(join(tmpdir(), 'storefront-webhooks-'));
    file.db = join(file.folder, 'shop.db');
  });
  afterEach(() => rmSync(file.folder, { recursive: true }));
  return file;
}
