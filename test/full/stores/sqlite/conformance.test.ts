import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { withRuntimes } from '../../../runtimes/installed.js';
import { drivers } from '../../../stores/sqlite/drivers.js';
import { newFolder, openStore, type RemoteStore } from '../../../stores/sqlite/remote.js';
import { describeStore } from '../../../stores/suite.js';
import { casesOf } from '../../../support/tier.js';

for (const { name, command, driver } of casesOf(
  drivers,
  ({ name }) => !/Node 2[46]|Deno|better/.test(name),
)) {
  withRuntimes(`SQLite through ${name}`, () => {
    let store: RemoteStore;

    beforeAll(async () => {
      store = await openStore(command, driver, join(newFolder(), 'webhooks.db'));
    });
    afterAll(() => store.stop());

    describeStore(
      name,
      async () => {
        await store.purge(0);
        await store.exec('DELETE FROM webhook_delivery');
        return store;
      },
      { age: () => store.exec('UPDATE webhook_delivery SET not_before = not_before - 120000') },
    );
  });
}
