import { shippedFixtures } from 'storefront-webhooks/testing';
import { expect, test } from 'vitest';
import { follow } from '../cli/process.js';
import { installed, withRuntimes } from '../runtimes/installed.js';
import { compileProgram } from '../support/program.js';

withRuntimes('the demo on Node 24', () => {
  test('remembers in SQLite', async () => {
    const program = await compileProgram('examples/demo.ts', 'build');
    const { status, stdout, stderr } = await follow([installed('node24/bin/node'), program], {})
      .ended;
    expect({ status, stack: stderr.match(/^ +at .*/m) }).toEqual({ status: 0, stack: null });
    expect(stderr).toContain('store: SQLite (webhooks.db)');
    expect(stdout).toContain('3 orders paid, 3 keys made, 3 mails sent.');
    const all = shippedFixtures().length;
    expect(stdout).toContain(`${all} of ${all} saved deliveries answered as expected.`);
  });
});
