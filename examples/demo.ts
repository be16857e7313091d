/**
 * Runs a shop on this machine: the storefront's sandbox, customers who pay in it, and an Express receiver with a
 * SQLite store. Then sends all saved deliveries. Prints each answer, and exits with 1 if one is not the expected
 * answer.
 */
import { openDatabase } from './demo/database.js';
import { sendFixtures } from './demo/fixtures.js';
import { sell } from './demo/sale.js';

const USAGE = `Usage: npm run demo [-- --all]

Starts a storefront and a shop on this machine, lets customers buy, makes one
delivery fail, loses one answer, forges one delivery, and prints each answer.
Then sends the shop all saved deliveries, including hostile ones.

  --all   prints each saved delivery in a table
  --help  prints this`;

async function demo(showAll: boolean): Promise<number> {
  const database = await openDatabase();
  const saleWentWell = await sell(database.store);
  const fixturesWentWell = await sendFixtures(database.store, showAll);
  database.close();
  if (!saleWentWell || !fixturesWentWell) return 1;
  console.log('\nNext:');
  if (!showAll)
    console.log('  npm run demo -- --all                            every saved delivery');
  console.log('  npx tsx src/cli/index.ts sandbox --seed-shop     a storefront to buy in');
  console.log('  WEBHOOK_SECRET=abc npx tsx examples/express.ts   a shop to build on');
  console.log('  examples/README.md                               how to send it a delivery');
  return 0;
}

// The reader of the output may close it early, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

const flags = process.argv.slice(2);
const unknown = flags.find((flag) => flag !== '--all' && flag !== '--help');
if (unknown !== undefined) {
  console.error(`The demo does not know ${unknown}: npm run demo -- --help lists its options.`);
  process.exitCode = 2;
} else if (flags.includes('--help')) {
  console.log(USAGE);
} else {
  process.exitCode = await demo(flags.includes('--all'));
}
