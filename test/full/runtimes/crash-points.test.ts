import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installed, withRuntimes } from '../../runtimes/installed.js';
import { makeProject, type Project } from '../../runtimes/project.js';
import { casesOf } from '../../support/tier.js';

const RUNTIMES = [
  ['Node 20', [installed('node20/bin/node')], true],
  ['Node 24', [installed('node24/bin/node')], true],
  ['Bun', [installed('.bin/bun')], false],
  ['Deno', [installed('.bin/deno'), 'run', '--allow-all'], false],
] as const;
const TRIED = casesOf(RUNTIMES, ([name]) => name !== 'Node 24');

withRuntimes('crashPoints() as it is built', () => {
  let project: Project;
  beforeAll(async () => {
    project = await makeProject('crashes');
    await cp('test/runtimes/crashes.mjs', join(project.folder, 'crashes.mjs'));
  }, 120_000);
  afterAll(() => project?.remove());

  test.each(TRIED)('names effects and their lines on %s', async (_, command, seesWaits) => {
    const [runtime, ...options] = command;
    const { stdout, stderr } = await promisify(execFile)(runtime, [...options, 'crashes.mjs'], {
      cwd: project.folder,
    });
    const { outside, waits, inside } = JSON.parse(stdout);
    expect(outside).toMatchObject([{ effect: 'mail', problem: 'twice', times: 2 }]);
    const [{ after, before }] = outside;
    const lineOf = (place: string) => Number(/^crashes\.mjs:(\d+):\d+$/.exec(place)?.[1]);
    expect(lineOf(before)).toBe(lineOf(after) + 1);
    expect(waits.map(({ effect }: { effect: string }) => effect)).toEqual(
      seesWaits ? ['mail'] : [],
    );
    expect(inside).toEqual([]);
    // The simulated crashes write nothing.
    expect(stderr).toMatch(/^(storefront-webhooks: version [^\n]*\n)?$/);
  });
});
