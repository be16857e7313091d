import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { sign } from 'storefront-webhooks/testing';
import { expect, onTestFinished, test } from 'vitest';
import { asShown, openShop, runInTerminal, SECRET, serve } from '../../cli/command.js';
import { spawnInTerminal } from '../../cli/process.js';
import { openOutage, QUICKLY } from '../../cli/recover/outage.js';
import { compileProgram } from '../../support/program.js';

const env = { WEBHOOK_SECRET: SECRET, NO_COLOR: '1' };

type Names = Readonly<Record<string, string>>;

/** Returns the output of a command in a terminal of 80 columns, with variable parts replaced. */
async function shown(
  cwd: string,
  args: readonly string[],
  names: Names,
  more: Readonly<Record<string, string>> = {},
) {
  const { lines } = await runInTerminal(80, args, { env: { ...env, ...more }, cwd });
  return asBlock(args, lines, names);
}

/** The same with the built command. */
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

test('docs/cli.md shows the output of the commands in a terminal', {
  timeout: 120_000,
}, async () => {
  const shop = await openShop();
  const other = await openShop('another secret');
  const { url } = await serve(createServer(express()));
  const none = url.replace('/webhooks', '/hooks');
  const folder = mkdtempSync(join(tmpdir(), 'cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const file of ['body.json', 'received.json'])
    writeFileSync(join(folder, file), '{"id":"ord_1","status":100}');
  for (const name of ['order-created', 'order-paid']) {
    const file = `${name}/default.hook.json`;
    cpSync(join('fixtures', file), join(folder, 'test/webhooks', file));
  }
  const fresh = await openShop();
  // This server verifies nothing.
  const forgetful = await serve(
    createServer((request, response) => request.resume().on('end', () => response.end('{}'))),
  );
  const ofSent = sign('{"id": "ord_1", "status": 100}', SECRET);
  const names = {
    [shop.url]: 'http://localhost:3000/webhooks',
    [other.url]: 'http://localhost:3000/webhooks',
    [none]: 'http://localhost:3000/hooks',
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
    [` ${QUICKLY.join(' ')}`]: '',
    ...Object.fromEntries(
      missed.flatMap((id, at) => {
        const same = `ord_${at + 1}7d1e0a2b9c3f4e5a6b7`;
        // The beginning of a line that is cut off.
        return [id, id.slice(0, 14)].map((part) => [part, same.slice(0, part.length)]);
      }),
    ),
  };
  // The orders were just paid, and are judged as if two hours later.
  const later = new Date(Date.now() + 2 * 60 * 60_000).toISOString();
  const reconcile = ['reconcile', ...outage.args.slice(1), '--now', later];
  const judged = { ...outageNames, [` --now ${later}`]: '' };
  const compared = await shown(process.cwd(), reconcile, judged, outage.env);
  const recovery = [
    await shown(process.cwd(), outage.args, outageNames, outage.env),
    // Run these as processes, because the page includes the library's own lines on stderr.
    await shownByProcess([...outage.args, '--apply'], outageNames, outage.env),
  ] as const;
  const drill = await shownByProcess(['drill'], {});
  const guide = `# The command line

The package \`storefront-webhooks\` comes with a command of the same name. The command sends signed webhooks to your server, finds out why a signature does not fit, and brings back orders that your server missed. \`--help\` lists the commands, and the \`--help\` of each command has an example:

\`\`\`sh
npx storefront-webhooks --help
\`\`\`

In a terminal, the output is for reading. In a pipe, or with \`--json\`, each command prints one line of JSON for each thing that it found, and nothing else on stdout; \`sign\` does so only with \`--json\`. The exit code is 0 if all is well, 1 if the command found something, and 2 if it was used wrongly.

Commands read the secret from the variable \`WEBHOOK_SECRET\`, from another variable (\`--secret-env\`), or from a file (\`--secret-file\`; \`-\` is stdin). A secret on the command line itself would be visible to other users of the machine. There is no configuration file. Put flags that you repeat into a script of your \`package.json\`.

## send

Sends a signed delivery to your own server, as the provider does:

${await show('send', 'order:paid', shop.url)}

The first word is an event, a fixture such as \`order:paid/crypto\`, a \`.hook.json\` file, any file with a body, or \`-\` for stdin. \`--set quantity=2\` changes the body, and reports what it changed; a field that is missing from the body also needs \`--add\`. \`--duplicate 3\`, \`--concurrency 3\`, \`--id\` and \`--forge-event\` imitate what happens in production. If an authority of your own has issued the server's certificate, put \`NODE_EXTRA_CA_CERTS=ca.pem\` in front of the command.

Your server has to reject a delivery with \`--corrupt\` or \`--unsigned\` by 400, 401 or 403, because a wrong path answers 404 to everything:

${await show('send', 'order:paid', shop.url, '--corrupt')}

If the answer is wrong, \`send\` reports the reason, what to change, and how to send the delivery again:

${await show('send', 'order:paid', other.url)}

${await show('send', 'order:paid', none)}

## replay

Sends saved deliveries in their order, or shuffled by a seed, and compares each answer with the one that its file expects. A server that has handled the deliveries before answers \`duplicate\`, so start it with an empty store for tests:

${await show('replay', 'test/webhooks', fresh.url)}

## sign and verify

Compute and check a signature, offline. The bytes come from a file or stdin. \`sign\` prints the bare signature, for use in \`$(…)\`:

${await show('sign', 'body.json')}

${await show('verify', 'body.json', 'f'.repeat(128))}

## doctor

Finds out why a signature does not fit: which change of this body, or of the secret, has exactly this signature. In this example, a framework has parsed the body and written it again:

${await show('doctor', 'received.json', ofSent, '--framework', 'express')}

\`doctor\` never guesses: it names a cause only if the signature is then equal. The output shows bytes of the body, and never a secret. \`--listen\` takes one delivery over HTTP and reports why it fails; \`--compare\` reports which hop between two recordings has changed the body.

## check

Sends your own endpoint everything that will happen to it, from duplicates to forgeries: 35 rows in less than a minute. For each row that fails, \`check\` reports what a customer would have suffered. Use a test endpoint, because \`check\` has it deliver goods for orders that are not paid:

${await show('check', forgetful.url, '--only', 'unsigned')}

An endpoint can answer 200 twice and deliver two keys, so the goods have to be counted: \`--observe\` takes a command or a URL that returns how many were delivered for \`{order}\`. Without it, rows that only the goods can decide are *not tried*, and never passed. The last count waits as long as goods may take (\`--goods-within\`). With \`--only\`, a paid order comes first: an endpoint that does not take it proves nothing by rejecting a forgery. The exit code is 1 if a row has failed, or the time was up before it was tried. \`--restart\` takes the command that ends your server and starts it again; \`--junit\` writes a report for a build server. A receiver with another \`headerPrefix\` needs \`--header-prefix X-Brand-\`. \`--order\` and \`--unpaid\` take a paid and an unpaid body in your provider's own form: [services](services.md#rehearse-it).

\`\`\`sh
npx storefront-webhooks check http://localhost:3000/webhooks \\
  --observe "sqlite3 -cmd '.timeout 5000' shop.db \\"SELECT count(*) FROM keys WHERE order_id = '{order}'\\""
\`\`\`

## record

Runs a proxy in front of your server, which forwards each delivery unchanged and saves it as a \`.hook.json\` file:

\`\`\`sh
npx storefront-webhooks record http://localhost:3000/webhooks --out test/webhooks
\`\`\`

\`record\` replaces the customer's data, the goods, and every text and number in a field that the specification does not name, except an \`order_id\` and dates such as \`paid_at\`; \`replay\` signs the delivery again. \`--as-is\` keeps the bytes and the signature, so anyone who has the file can send the delivery again.

## save

Turns a delivery into a failing test of your own, with its fixture:

\`\`\`sh
npx storefront-webhooks save test/webhooks/0001-order-paid.hook.json --receiver ./src/webhooks.ts
\`\`\`

\`save\` takes a recording, an entry of the provider's webhook log, or a body. The test of a log sends to the path and query of its \`url\`; \`save\` replaces the values of parameters such as \`token\`, and prints their names, unless you give \`--as-is\`. For a recording or a body and a receiver of several shops, add the path of the shop to the test: \`replay(receiver, loadFixture(file), { path: '/webhooks/keys' })\`. The test runs on the store that your module opens, so let the module open another one for tests, for example with \`new Database(process.env.SHOP_DATABASE ?? 'shop.db')\`.

## sandbox

Runs the provider's whole service on your machine: [sandbox.md](sandbox.md).

## dead

Shows the deliveries in a store that wait for an operator, and has them processed again. Name the store by \`postgres://…\`, \`redis://…\`, a SQLite file, or an environment variable that holds one of these, such as \`DATABASE_URL\`, which keeps the password out of sight of other users. If the Redis client of your receiver has a \`keyPrefix\`, add it to the address: \`redis://…?keyPrefix=shop:\`. The command does not open a Redis cluster: use \`store.list\` and \`receiver.redrive\` in a program. The command uses the driver of the project in this folder:

\`\`\`sh
npx storefront-webhooks dead count shop.db
npx storefront-webhooks dead list shop.db --where error~timeout
npx storefront-webhooks dead show shop.db ord_1
npx storefront-webhooks dead redrive shop.db --where event=order:paid --where interrupted=false --to http://localhost:3000/webhooks --apply
\`\`\`

\`count\` counts to 10000; \`orMore\` in its JSON names each state that has at least as many. \`list\` shows dead, stalled and failing deliveries, \`redrive\` puts dead and stalled ones back, oldest first, and \`--state\` selects one state. An interrupted delivery may be done, as both note on stderr. The last command above leaves it: check its order, then redrive it with \`--where order=ord_1\`. \`redrive\` does nothing without \`--apply\`, and asks the store again just before it acts. \`redrive\` takes 1000 deliveries at most, or \`--max\`, and exits with 1 if more are left. With \`--to\`, your shop runs each delivery now, under its existing key: completed handlers do not run again. A receiver with another \`headerPrefix\` needs \`--header-prefix X-Brand-\`. If the first answer is 401, or if three in a row get no answer, or one that the shop would give to all of them, such as 404, \`redrive\` stops: putting back a delivery erases its error. \`redrive\` also stops, and exits with 1, if another shop has answered: the key in the receipt of the answer is another one, or the answer is \`handled\` or \`duplicate\` and this store does not have the delivery as done within 2 s. If the store cannot be read meanwhile, \`redrive\` reports that, and goes on once it can. If the delivery is dead again after \`parked\` or \`duplicate\`, the shop has parked it again. Other answers, such as \`failed\` or \`ignored\`, do not show whether a receiver with the same scope uses this store. \`--timeout\` is the time that an answer may take, 60 s by default, and \`--plain-http\` allows plain HTTP to another machine. If the deliveries have a scope, name the \`--scope\` of the shop at that address: \`redrive\` signs them with the secret of that shop. A shop with a queue answers \`queued\`, and its queue may still have the ended job and run nothing: call [\`receiver.redrive()\`](operate.md#orders-that-are-stuck) there instead. \`redrive\` then also sends the failing deliveries of the same orders, which would otherwise stay listed after the order was delivered. \`--state failing\` includes deliveries that have become stalled since they were listed. Without \`--to\`, deliveries run when the provider retries them.

## recover

Finds the deliveries in the provider's log that your receiver never answered, and runs them through your own handlers: [recovery.md](recovery.md). Without \`--apply\`, it only lists them.

\`--receiver\` is the file that exports your receiver; importing it must not start a server. The API's access token is in the variable \`ACCESS_TOKEN\`, in another one (\`--token-env\`), or in a file (\`--token-file\`). With \`--email\`, the API key is in \`API_KEY\` (\`--api-key-env\`). In a pipe, the last line of JSON is the summary, with \`complete\`.

## reconcile

Lists the orders for which the provider and your shop disagree, with the flags of \`recover\`: [reconcile.md](reconcile.md). \`--csv\` is for a spreadsheet.

## drill

Plays three days of a shop in which everything goes wrong, on a real store, and counts the goods: [recovery.md](recovery.md#the-drill).

\`--html\` and \`--svg\` draw the three days; \`--store\` takes an empty database of your PostgreSQL, Redis or SQLite. In a store that a receiver has used, the drill does nothing.

## completion

Prints the completion script of your shell:

\`\`\`sh
npx storefront-webhooks completion bash >> ~/.bashrc
npx storefront-webhooks completion zsh > ~/.zfunc/_storefront-webhooks
npx storefront-webhooks completion fish > ~/.config/fish/completions/storefront-webhooks.fish
\`\`\`
`;
  await expect(guide).toMatchFileSnapshot('../../../docs/cli.md');
  const ofRecovery = readFileSync('docs/recovery.md', 'utf8');
  for (const block of [...recovery, drill]) expect(ofRecovery).toContain(block);
  expect(readFileSync('docs/reconcile.md', 'utf8')).toContain(compared);
});
