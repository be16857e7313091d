import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** Ends a run with what it has not tried, and why. */
export default class ClosingLines implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')]);
    if (skipped.length > 0) console.log('\nNot tried here:');
    for (const test of skipped) console.log(`- ${[test.fullName, noteOf(test)].join(' ').trim()}`);
  }
}

function noteOf(test: TestCase): string {
  const result = test.result();
  return result.state === 'skipped' && result.note ? `(${result.note})` : '';
}
