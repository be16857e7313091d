/**
 * `npm run projects [name…]`: installs the packed package in small projects of other frameworks, bundlers, test
 * runners and package managers, and prints PASS or FAIL for each delivery that they get.
 */
import { removeFolders } from '../package/folder.js';
import { pack } from '../package/packed.js';
import { projects } from './names.js';
import { tryProject } from './project.js';

const named = process.argv.slice(2);
const unknown = named.filter((name) => !projects.includes(name));
if (unknown.length > 0) {
  console.error(
    `There is no project ${unknown.join(', ')}. The projects are ${projects.join(', ')}.`,
  );
  process.exit(2);
}

let failed = 0;
const report = (passed: boolean, line: string, fault = '') => {
  if (!passed) failed++;
  console.log(`${passed ? 'PASS' : 'FAIL'}  ${line}${fault && `\n${fault.trim()}\n`}`);
};
try {
  const tarball = await pack();
  for (const name of named.length > 0 ? named : projects) {
    try {
      for (const { delivery, fault } of await tryProject(name, tarball)) {
        report(fault === undefined, `${name}: ${delivery}`, fault);
      }
    } catch (error) {
      report(false, `${name}: install, build and start`, String(error));
    }
  }
} finally {
  removeFolders();
}
process.exitCode = failed > 0 ? 1 : 0;
