// The receiver of a shop that prints more than a pipe holds.
process.stdout.write(`${'x'.repeat(2 ** 20)}\n`);

export { receiver } from './receiver.js';
