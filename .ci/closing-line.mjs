// Prints each failed test with its reason, and the closing line, from the report that the test runner has written.
import { readFileSync } from 'node:fs';

const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(
  readFileSync(process.argv[2], 'utf8'),
);

/** The log is long, and read from its end. */
const short = (text) =>
  text
    .split('\n')
    .filter((line) => !line.includes('node_modules'))
    .slice(0, 12)
    .map((line) => `    ${line.slice(0, 300)}`)
    .join('\n');

for (const { name, message, assertionResults } of testResults) {
  const failed = assertionResults.filter(({ status }) => status === 'failed');
  if (message && failed.length === 0) console.log(`FAILED: ${name}\n${short(message)}`);
  for (const { fullName, failureMessages } of failed) {
    console.log(`FAILED: ${name} ${fullName}\n${short(failureMessages.join('\n'))}`);
  }
}

// With everything installed, a test is left out only where a queue cannot be asked: it says why, in brackets.
const skipped = testResults
  .flatMap(({ assertionResults }) => assertionResults)
  .filter(({ status }) => status === 'skipped');
const untried = skipped.filter(({ title }) => !/\(.+\)$/.test(title));
for (const { fullName } of untried) console.log(`NOT TRIED: ${fullName}`);

const rest = numPendingTests > 0 ? `, ${numPendingTests} skipped` : '';
console.log(`\n${numPassedTests} passed, ${numFailedTests} failed${rest}`);
process.exitCode = numFailedTests + untried.length > 0 ? 1 : 0;
