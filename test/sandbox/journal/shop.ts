import { createSandbox } from '../../../src/sandbox/index.js';

// A sandbox in its own process, which a test kills. The argument is its file; the address goes to stdout.

const sandbox = createSandbox({ db: process.argv[2] ?? '' });
const { url } = await sandbox.listen();
console.log(url);
