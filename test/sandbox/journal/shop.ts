import { createSandbox } from '../../../src/sandbox/index.js';

// A sandbox in a process of its own, for a test that kills it: its file is the argument, its address goes to stdout.

const sandbox = createSandbox({ db: process.argv[2] ?? '' });
const { url } = await sandbox.listen();
console.log(url);
