import { setImmediate as nextTurn } from 'node:timers/promises';
import { openJournal } from '../../../../src/sandbox/state/journal.js';
import { isOpen } from '../../../../src/sandbox/webhooks/logs.js';
import { openShop } from '../shop.js';

// Sells the given number of orders, and exits when all webhooks are done: node … <db> <url> <clock> <orders>
const [file = '', url = '', clock = 'fast', orders = '0'] = process.argv.slice(2);

const journal = openJournal(file);
if (!journal) throw new Error('There is no SQLite.');
const shop = openShop({ clock: clock === 'manual' ? 'manual' : 'fast', journal });
if (shop.account.webhookEndpoints.size === 0) shop.subscribe(url, ['order:created', 'order:paid']);
console.log('open');
while (shop.account.orders.size < Number(orders)) {
  shop.sell();
  console.log('sold');
  // Keep a few webhooks in progress at any time.
  await (shop.account.orders.size % 5 === 0 ? shop.idle() : nextTurn());
}
do {
  await shop.idle();
  await nextTurn();
} while (clock !== 'manual' && shop.logs().some(isOpen));
console.log('done');
