import { relative } from 'node:path';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

const SLOWEST = 10;

/** The name of a skipped test states what it needs and how to get it, or in brackets why it cannot run here. */
const REASON = /apt-get install|npm (--prefix \S+ )?(ci|install)|\(.+\)$/;

/** Prints at the end of a run its slowest files, its flaky tests, and its skipped tests with the reasons. */
export default class ClosingLines implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')]);
    const tests = modules.flatMap((module) => [...module.children.allTests('passed')]);
    const flaky = tests.filter((test) => test.diagnostic()?.flaky);
    if (modules.length > SLOWEST) tellSlowest(modules);
    if (flaky.length > 0)
      console.log('\nFlaky: failed once, and passed when run again. Fix them first:');
    for (const test of flaky) console.log(`- ${test.module.relativeModuleId}: ${test.fullName}`);
    if (skipped.length > 0) console.log('\nNot tried here:');
    for (const test of skipped) console.log(`- ${nameOf(test)}`);
    const unexplained = skipped.filter((test) => !REASON.test(nameOf(test)));
    // A run with -t skips the other tests.
    if (unexplained.length === 0 || process.argv.some((arg) => /^(-t|--testNamePattern)/.test(arg)))
      return;
    console.log('\nSkipped without saying what they need and how to get it:');
    for (const test of unexplained)
      console.log(`- ${test.module.relativeModuleId}: ${test.fullName}`);
    process.exitCode = 1;
  }
}

function tellSlowest(modules: readonly TestModule[]): void {
  const times = modules.map((module) => ({ module, ms: module.diagnostic().duration }));
  console.log('\nThe slowest files, in seconds:');
  for (const { module, ms } of times.sort((a, b) => b.ms - a.ms).slice(0, SLOWEST)) {
    console.log(`${(ms / 1000).toFixed(1).padStart(7)}  ${relative('.', module.moduleId)}`);
  }
}

function nameOf(test: TestCase): string {
  const result = test.result();
  const note = result.state === 'skipped' && result.note ? `(${result.note})` : '';
  return `${test.fullName} ${note}`.trim();
}
