// Prints each failed test with its reason, and the closing line, from the reports of the runs so far:
// node .ci/closing-line.mjs <folder of reports> <1 if a step has failed, otherwise 0>
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder = '', failedStep] = process.argv.slice(2);
const runs = readdirSync(folder).map((file) =>
  JSON.parse(readFileSync(join(folder, file), 'utf8')),
);
const files = runs.flatMap(({ testResults }) => testResults);
const tests = files.flatMap(({ assertionResults }) => assertionResults);

/** Shortens a reason to a few lines, because readers start at the end of a long log. */
const short = (text) =>
  text
    .split('\n')
    .filter((line) => !line.includes('node_modules'))
    .slice(0, 12)
    .map((line) => `    ${line.slice(0, 300)}`)
    .join('\n');

for (const { name, message, assertionResults } of files) {
  const failed = assertionResults.filter(({ status }) => status === 'failed');
  if (message && failed.length === 0) console.log(`FAILED: ${name}\n${short(message)}`);
  for (const { fullName, failureMessages } of failed) {
    console.log(`FAILED: ${name} ${fullName}\n${short(failureMessages.join('\n'))}`);
  }
}

// Everything is installed, so only a test that cannot be asked of a queue is skipped. It says why, in brackets.
const skipped = tests.filter(({ status }) => status === 'skipped' || status === 'pending');
const untried = skipped.filter(({ title }) => !/\(.+\)$/.test(title));
for (const { fullName } of untried) console.log(`NOT TRIED: ${fullName}`);

const count = (status) => tests.filter((test) => test.status === status).length;
const failures = Math.max(count('failed') + untried.length, Number(failedStep));
const rest = skipped.length > 0 ? `, ${skipped.length} skipped` : '';
console.log(`\n${count('passed')} passed, ${failures} failed${rest}`);
process.exitCode = failures > 0 ? 1 : 0;
