import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeFolders } from '../package/folder.js';
import { pack } from '../package/packed.js';
import { projects } from '../projects/names.js';
import { tryProject } from '../projects/project.js';

let tarball: string;
beforeAll(async () => {
  tarball = await pack();
});
afterAll(removeFolders);

// Installing and building takes longer than a test usually may.
test.each(projects)(
  'the packed package handles, rejects and reports the right deliveries in the project %s',
  { timeout: 600_000 },
  async (name) => {
    const faults = (await tryProject(name, tarball)).filter(({ fault }) => fault !== undefined);
    expect(faults).toEqual([]);
  },
);
