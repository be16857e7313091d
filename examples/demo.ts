/**
 * A shop that sells on this machine: the storefront's sandbox, customers who pay in it, and a receiver in Express that
 * remembers in SQLite. Then all saved deliveries. Prints what each was answered, and exits with 1 if one was not
 * answered as it should be.
 */
import { openDatabase } from './demo/database.js';
import { sendFixtures } from './demo/fixtures.js';
import { sell } from './demo/sale.js';

const USAGE = `Usage: npm run demo [-- --all]

Starts a storefront and a shop on this machine, lets customers buy, has one
delivery fail, one get lost and one be forged, and prints what each was answered.
Then sends the shop all saved deliveries, hostile ones among them.

  --all   prints each of these in a table
  --help  prints this`;

async function demo(showAll: boolean): Promise<number> {
  const database = await openDatabase();
  const saleWentWell = await sell(database.store);
  const fixturesWentWell = await sendFixtures(database.store, showAll);
  database.close();
  if (!saleWentWell || !fixturesWentWell) return 1;
  console.log('\nNext:');
  if (!showAll) console.log('  npm run demo -- --all                            every one of them');
  console.log('  npx tsx src/cli/index.ts sandbox --seed-shop     a storefront to buy in');
  console.log('  WEBHOOK_SECRET=abc npx tsx examples/express.ts   a shop to build on');
  console.log('  examples/README.md                               how to send it a delivery');
  return 0;
}

// Whoever reads the output may have seen enough, as `head` has.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

const flags = process.argv.slice(2);
const unknown = flags.find((flag) => flag !== '--all' && flag !== '--help');
if (unknown !== undefined) {
  console.error(`The demo does not know ${unknown}: npm run demo -- --help says what it knows.`);
  process.exitCode = 2;
} else if (flags.includes('--help')) {
  console.log(USAGE);
} else {
  process.exitCode = await demo(flags.includes('--all'));
}
