import { benchImport } from './import-time.mjs';
import { benchReceive } from './receive.mjs';
import { benchRecovery } from './recovery/index.mjs';
import { benchSandbox } from './sandbox/index.mjs';
import { benchSocket } from './socket.mjs';
import { benchStores } from './stores.mjs';
import { benchVerify } from './verify.mjs';

console.log(`Node ${process.version}. Batches that take turns; the ratio is to the first line.`);
await benchVerify();
await benchReceive();
await benchImport();
await benchSocket();
await benchStores();
await benchSandbox();
await benchRecovery();
// Of the databases' watchers, some hold this process.
process.exit();
