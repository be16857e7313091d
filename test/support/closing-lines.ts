import type { Reporter, TestModule } from 'vitest/node';

/** Ends a run with what it has not tried, and why. */
export default class ClosingLines implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')]);
    if (skipped.length > 0) console.log('\nNot tried here:');
    for (const test of skipped) console.log(`- ${test.fullName}`);
  }
}
