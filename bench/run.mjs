import { benchImport } from './import-time.mjs';
import { benchReceive } from './receive.mjs';
import { benchRecovery } from './recovery/index.mjs';
import { benchSandbox } from './sandbox/index.mjs';
import { benchSocket } from './socket.mjs';
import { benchSales, benchStores } from './stores.mjs';
import { benchVerify } from './verify.mjs';

console.log(`Node ${process.version}. Batches that take turns; the ratio is to the first line.`);
await benchVerify();
await benchReceive();
await benchImport();
await benchSocket();
await benchStores();
await benchSales();
await benchSandbox();
await benchRecovery();
// Some of the databases' watchers keep this process alive.
process.exit();
