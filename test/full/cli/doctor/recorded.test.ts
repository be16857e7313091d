import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import recorded from '../../../cli/doctor/recorded.json' with { type: 'json' };

const isMissing = spawnSync('python3', ['--version']).status !== 0 && !process.env.CI;

describe.skipIf(isMissing)('Python (apt-get install python3)', () => {
  test.each(Object.entries(recorded.python))('writes the recorded bytes: %s', (write, said) => {
    const program = `import json,sys; sys.stdout.buffer.write(${write})`;
    const { stdout } = spawnSync('python3', ['-c', program], { input: recorded.body });
    expect(stdout.toString()).toBe(said);
  });
});
