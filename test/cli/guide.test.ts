import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sign } from 'storefront-webhooks/testing';
import { expect, onTestFinished, test } from 'vitest';
import { compileProgram } from '../support/program.js';
import { asShown, openShop, runInTerminal, SECRET, serve } from './command.js';
import { spawnInTerminal } from './process.js';
import { openOutage } from './recover/outage.js';

const env = { WEBHOOK_SECRET: SECRET, NO_COLOR: '1' };

type Names = Readonly<Record<string, string>>;

/** What a command prints in a terminal of 80 columns, with what differs each time made the same. */
async function shown(
  cwd: string,
  args: readonly string[],
  names: Names,
  more: Readonly<Record<string, string>> = {},
) {
  const { lines } = await runInTerminal(80, args, { env: { ...env, ...more }, cwd });
  return asBlock(args, lines, names);
}

/** The same by the built command. */
async function shownByProcess(args: readonly string[], names: Names, more = {}) {
  const receiver = await compileProgram('test/cli/recover/receiver.ts', 'build');
  const own = args.map((arg) => (arg === 'test/cli/recover/receiver.ts' ? receiver : arg));
  const spawned = spawnInTerminal(80, own, { env: { ...env, ...more }, input: '' });
  return asBlock(args, asShown(await spawned.ended).lines, names);
}

function asBlock(args: readonly string[], lines: readonly string[], names: Names): string {
  const same = (text: string) =>
    Object.entries(names)
      .reduce((rest, [own, name]) => rest.replaceAll(own, name), text)
      .replace(/\d+(\.\d+)? ms/g, '9.1 ms')
      .replace(/\d\d:\d\d:\d\d/g, '12:00:00')
      .replace(/^\d\d-\d\d \d\d:\d\d/, '11-20 12:00')
      .replace(/^\d\d-\d\d(?= {2}ord)/, '11-20')
      .replace(/v1(\.\w+){4}/, 'v1…')
      .replace(/version \d+\.\d+\.\d+/, 'version 0.1.0')
      .trimEnd();
  return `\`\`\`console\n$ npx storefront-webhooks ${same(args.join(' '))}\n${lines.map(same).join('\n')}\n\`\`\``;
}

test('docs/cli.md shows what the commands print in a terminal', { timeout: 120_000 }, async () => {
  const shop = await openShop();
  const other = await openShop('another secret');
  const none = await serve(createServer((_, response) => response.writeHead(404).end()));
  const folder = mkdtempSync(join(tmpdir(), 'cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const file of ['body.json', 'received.json'])
    writeFileSync(join(folder, file), '{"id":"ord_1","status":100}');
  for (const name of ['order-created', 'order-paid']) {
    const file = `${name}/default.hook.json`;
    cpSync(join('fixtures', file), join(folder, 'test/webhooks', file));
  }
  const fresh = await openShop();
  // It verifies nothing.
  const forgetful = await serve(
    createServer((request, response) => request.resume().on('end', () => response.end('{}'))),
  );
  const ofSent = sign('{"id": "ord_1", "status": 100}', SECRET);
  const names = {
    [shop.url]: 'http://localhost:3000/webhooks',
    [other.url]: 'http://localhost:3000/webhooks',
    [none.url]: 'http://localhost:3000/hooks',
    [forgetful.url]: 'http://localhost:3000/webhooks',
    [fresh.url]: 'http://localhost:3000/webhooks',
    [ofSent]: `${ofSent.slice(0, 4)}…`,
    ['f'.repeat(128)]: 'ffff…',
  };
  const show = (...args: string[]) => shown(folder, args, names);
  const outage = await openOutage();
  const missed = await outage.sell(2);
  const outageNames = {
    'test/cli/recover/receiver.ts': 'dist/receiver.js',
    [outage.url]: 'https://shop.example/webhooks',
    [outage.api]: 'https://storefront.example',
    ...Object.fromEntries(
      missed.flatMap((id, at) => {
        const same = `ord_${at + 1}7d1e0a2b9c3f4e5a6b7`;
        // Its beginning, where it is cut.
        return [id, id.slice(0, 14)].map((part) => [part, same.slice(0, part.length)]);
      }),
    ),
  };
  // They were paid just now, and are judged two hours later.
  const later = new Date(Date.now() + 2 * 60 * 60_000).toISOString();
  const reconcile = ['reconcile', ...outage.args.slice(1), '--now', later];
  const judged = { ...outageNames, [` --now ${later}`]: '' };
  const compared = await shown(process.cwd(), reconcile, judged, outage.env);
  const recovery = [
    await shown(process.cwd(), outage.args, outageNames, outage.env),
    // As processes: what the library itself says on stderr stands among it.
    await shownByProcess([...outage.args, '--apply'], outageNames, outage.env),
  ] as const;
  const drill = await shownByProcess(['drill'], {});
  const guide = `# The command line

\`npx storefront-webhooks <command>\` comes with the package. Each command has a \`--help\` with an example.

In a terminal it prints for people. In a pipe, or with \`--json\`, it prints a line of JSON for each thing that it found, and nothing else on stdout; \`sign\` only with \`--json\`. It ends with 0 where all is well, with 1 where it found something, and with 2 where it was used wrongly.

The secret is read from the variable \`WEBHOOK_SECRET\`, from another one (\`--secret-env\`), or from a file (\`--secret-file\`, \`-\` is stdin). On the command line itself, other users of the machine see it.

There is no configuration file: the secret is the one thing that every command would repeat, and it has its variable. What else you repeat belongs into a script of your \`package.json\`.

## send

A signed delivery to your own server, as the provider sends it:

${await show('send', 'order:paid', shop.url)}

The first word is an event, a fixture such as \`order:paid/crypto\`, a \`.hook.json\` file, any file with a body, or \`-\` for stdin. \`--set status=51\` changes the body, and says what it changed; a field that is not there is refused without \`--add\`. \`--duplicate 3\`, \`--concurrency 3\`, \`--id\` and \`--forge-event\` do what production will.

What is \`--corrupt\` or \`--unsigned\` has to be refused:

${await show('send', 'order:paid', shop.url, '--corrupt')}

Where the answer is not a good one, it says why, what to change, and how to send it again:

${await show('send', 'order:paid', other.url)}

${await show('send', 'order:paid', none.url)}

## replay

Saved deliveries in their order, or shuffled by a seed, each answer compared with what its file expects:

${await show('replay', 'test/webhooks', fresh.url)}

## sign and verify

Offline. The bytes are those of a file, or of stdin, and the signature is bare, for \`$(…)\`:

${await show('sign', 'body.json')}

${await show('verify', 'body.json', 'f'.repeat(128))}

## doctor

Why a signature does not fit: which change of this body, or of the secret, has exactly this signature. Here a framework has parsed the body and written it again:

${await show('doctor', 'received.json', ofSent, '--framework', 'express')}

Nothing is named by likeness: a cause is named where the signature is equal. It shows bytes of the body, and never a secret. \`--listen\` takes one delivery over HTTP and says why it fails; \`--compare\` says which hop between two recordings has changed it.

## check

All that will happen to your own endpoint, from duplicates to forgeries: 35 rows in less than a minute, and for each that fails what a customer would have suffered. Use one for tests, because it hands out goods for orders that nobody has paid:

${await show('check', forgetful.url, '--only', 'unsigned')}

An endpoint can answer 200 twice and hand out two keys, so the goods have to be counted: \`--observe\` takes a command or a URL that says how many were handed out for \`{order}\`. Rows that only the goods can decide are *not tried* without it, and never passed. \`--restart\` takes the command that ends your server and starts it again; \`--junit\` writes a report for a build server.

\`\`\`sh
npx storefront-webhooks check http://localhost:3000/webhooks \\
  --observe "sqlite3 -cmd '.timeout 5000' shop.db \\"SELECT count(*) FROM keys WHERE order_id = '{order}'\\""
\`\`\`

## record

A proxy before your server, which passes each delivery on unchanged and saves it as a \`.hook.json\` file:

\`\`\`sh
npx storefront-webhooks record http://localhost:3000/webhooks --out test/webhooks
\`\`\`

What is of the customer is taken out, with the goods and with every text and number in a field that the specification does not name; the delivery is signed anew when it is replayed. \`--as-is\` keeps the bytes and the signature, which can be sent again by whoever has the file.

## save

From a delivery to a failing test of your own, with its fixture:

\`\`\`sh
npx storefront-webhooks save test/webhooks/0001-order-paid.hook.json --receiver ./src/webhooks.ts
\`\`\`

It takes a recording, a webhook log as the provider's service gives it, or a body. The test runs over the store that your module opens: have it open another one for tests, as by \`new Database(process.env.SHOP_DATABASE ?? 'shop.db')\`.

## sandbox

The provider's whole service, on your machine: [sandbox.md](sandbox.md).

## dead

What a store keeps for a person. The store is named by \`postgres://…\`, \`redis://…\`, a SQLite file, or an environment variable that has one of these, such as \`DATABASE_URL\`: then its password stands nowhere that others see it. The driver is the one of the project in this folder:

\`\`\`sh
npx storefront-webhooks dead count shop.db
npx storefront-webhooks dead list shop.db --where error~timeout
npx storefront-webhooks dead show shop.db ord_1
npx storefront-webhooks dead redrive shop.db --where event=order:paid --to http://localhost:3000/webhooks --apply
\`\`\`

\`list\` shows what is dead, stalled or failing, \`redrive\` puts back what is dead or stalled, and \`--state\` names one of them. \`redrive\` does nothing without \`--apply\`, and asks the store again just before it acts. With \`--to\`, it has your shop run each delivery now, under the key that it has: what its handlers have done stays done. Without, they run when they are sent again, or out of the queue.

## recover

What your receiver never answered, out of the provider's log, through your own handlers: [recovery.md](recovery.md). Without \`--apply\` it only lists.

\`--receiver\` is the file that exports your receiver; importing it must not start a server. The API's access token is in the variable \`ACCESS_TOKEN\`, in another one (\`--token-env\`), or in a file (\`--token-file\`); for \`--email\` with an API key, it is in \`API_KEY\` (\`--api-key-env\`). In a pipe, the last line of JSON is the summary: it has \`complete\`.

## reconcile

Where the provider's orders and what your shop has delivered do not agree, with the flags of \`recover\`: [reconcile.md](reconcile.md). \`--csv\` is for a spreadsheet.

## drill

Three days of a shop in which everything goes wrong, on a real store, and a count of the goods: [recovery.md](recovery.md#the-drill).

\`--html\` and \`--svg\` draw it; \`--store\` takes your PostgreSQL, Redis or SQLite.

## completion

\`\`\`sh
npx storefront-webhooks completion bash >> ~/.bashrc
npx storefront-webhooks completion zsh > ~/.zfunc/_storefront-webhooks
npx storefront-webhooks completion fish > ~/.config/fish/completions/storefront-webhooks.fish
\`\`\`
`;
  await expect(guide).toMatchFileSnapshot('../../docs/cli.md');
  const ofRecovery = readFileSync('docs/recovery.md', 'utf8');
  for (const block of [...recovery, drill]) expect(ofRecovery).toContain(block);
  expect(readFileSync('docs/reconcile.md', 'utf8')).toContain(compared);
});
