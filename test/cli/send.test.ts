import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openShop, run, runInTerminal, SECRET, serve } from './command.js';

const env = { WEBHOOK_SECRET: SECRET };

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Starts a server that keeps the received bodies, and answers with a status. */
async function startServer(status = 200, headers = {}, answer = '{"said":"no"}') {
  const bodies: string[] = [];
  const seen: (readonly [event: unknown, id: unknown])[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    bodies.push(body);
    seen.push([request.headers['x-service-event'], request.headers['x-service-webhook']]);
    response.writeHead(status, headers).end(answer);
  });
  return { ...(await serve(server)), bodies, seen };
}

describe('storefront-webhooks send', () => {
  test('sends a signed delivery, and prints its answer in a line of JSON', async () => {
    const { url, delivered } = await openShop();
    const { status, records, stderr } = await run(['send', 'order:paid', url], { env });
    expect([status, stderr, delivered.length]).toEqual([0, '', 1]);
    expect(records()).toEqual([
      {
        time: expect.stringMatching(/^\d{4}-.*Z$/),
        event: 'order:paid',
        id: 'whl_0001',
        subject: delivered[0],
        amount: '19.90 EUR',
        signature: 'valid',
        status: 200,
        outcome: 'handled',
        ms: expect.any(Number),
        attempt: 1,
        good: true,
      },
    ]);
  });

  test('makes the given changes, reports them, and keeps all other numbers as they were written', async () => {
    const { url, bodies } = await startServer();
    const input = '{"id":"a","value":10.0,"status":100,"custom":{"note":"x"}}';
    const args = ['--event', 'order:paid', '--set', 'status=51', '--set', 'custom.note=hi'];
    const { status, stderr } = await run(['send', '-', url, ...args], { env, input });
    expect([status, bodies]).toEqual([
      0,
      ['{"id":"a","value":10.0,"status":51,"custom":{"note":"hi"}}'],
    ]);
    expect(stderr).toBe('status: 100 → 51\ncustom.note: "x" → "hi"\n');
  });

  test('sends the numbers of a change as they were written', async () => {
    const { url, bodies } = await startServer();
    const input = '{"id":"a","value":1,"quantity":1,"product":{"price":2}}';
    const set = ['--set', 'value=1.10', '--set', 'quantity=1e400', '--set', 'id=9007199254740993'];
    const patch = ['--patch', '{"product":{"price":-0,"stock":[2.50]}}'];
    const args = ['send', '-', url, '--event', 'order:paid', ...set, ...patch];
    const { status, stderr } = await run(args, { env, input });
    const product = '{"price":-0,"stock":[2.50]}';
    expect([status, bodies]).toEqual([
      0,
      [`{"id":9007199254740993,"value":1.10,"quantity":1e400,"product":${product}}`],
    ]);
    expect(stderr).toContain('value: 1 → 1.10\nquantity: 1 → 1e400\n');
  });

  test('has an example in its help that a receiver accepts', async () => {
    const { url } = await openShop();
    const { stdout } = await run(['send', '--help']);
    const [, example = ''] = /^ {2}npx storefront-webhooks (.+)$/m.exec(stdout) ?? [];
    const args = example.replace('http://localhost:3000/webhooks', url).split(' ');
    const { status, stderr } = await run(args, { env });
    expect([status, stderr]).toEqual([0, 'status: 100 → 51\n']);
  });

  test.each([
    ['--set', 'status=51'],
    ['--patch', '{"status":51}'],
  ])('says that the answer to a contradiction is right: %s', async (...change) => {
    const { url } = await openShop();
    const { status, records } = await run(['send', 'order:paid', url, ...change], { env });
    const fix = expect.stringMatching(/^The answer is right if --set or --patch .*provider does/);
    expect([status, records()]).toMatchObject([1, [{ status: 422, fix }]]);
  });

  test('blames no change for the answer to a body that is sent as it is', async () => {
    const { url } = await openShop();
    const args = ['send', '-', url, '--event', 'order:paid'];
    const { records } = await run(args, { env, input: '{"id":"a","status":51}' });
    const fix = expect.stringMatching(/^If the provider does send this, allow it/);
    expect(records()).toMatchObject([{ status: 422, fix }]);
  });

  test('sends the bytes of a file as they are', async () => {
    const { url, bodies, seen } = await startServer();
    const file = join(makeFolder(), 'body.json');
    writeFileSync(file, '{ "event": "order:paid",\r\n "path": "a\\/b" }\n');
    const { status } = await run(['send', file, url, '--id', 'whl_mine'], { env });
    expect([status, bodies, seen]).toEqual([
      0,
      ['{ "event": "order:paid",\r\n "path": "a\\/b" }\n'],
      [['order:paid', 'whl_mine']],
    ]);
  });

  test('sends copies of a delivery, of which one is handled', async () => {
    const { url, delivered } = await openShop();
    const args = ['send', 'order:paid', url, '--duplicate', '3'];
    const { status, records } = await run(args, { env });
    expect([status, delivered.length]).toEqual([0, 1]);
    expect(records().map(({ outcome, attempt }) => [outcome, attempt])).toEqual([
      ['handled', 1],
      ['duplicate', 2],
      ['duplicate', 3],
    ]);
  });

  test.each([['--corrupt'], ['--unsigned']])(
    '%s passes if the server rejects it, and exits with 1 if the server accepts it',
    async (flag) => {
      const shop = await openShop();
      expect((await run(['send', 'order:paid', shop.url, flag], { env })).status).toBe(0);
      expect(shop.delivered).toEqual([]);
      const naive = await startServer(200);
      const { status, records } = await run(['send', 'order:paid', naive.url, flag], { env });
      expect(status).toBe(1);
      expect(records()).toMatchObject([{ cause: expect.stringContaining('is not genuine') }]);
    },
  );

  test.each(['--corrupt', '--unsigned', '--forge-event=order:created'])(
    '%s exits with 1 if the answer comes from no receiver',
    async (flag) => {
      for (const code of [404, 405, 429]) {
        const { url } = await startServer(code);
        expect((await run(['send', 'order:paid', url, flag], { env })).status).toBe(1);
      }
    },
  );

  test('names another event in the header', async () => {
    const { url, delivered } = await openShop();
    const args = ['send', 'order:updated/not-paid', url, '--forge-event', 'order:paid'];
    const { status, records } = await run(args, { env });
    expect([status, delivered]).toEqual([0, []]);
    expect(records()).toMatchObject([{ event: 'order:paid', status: 422 }]);
  });

  test.each([
    [401, 'not from the receiver: 401 without a content type.'],
    [404, 'not from the receiver: 404 without a content type. The server has no such path.'],
    [301, 'redirects'],
    [500, 'not from the receiver: 500'],
    [418, 'not from the receiver: 418'],
  ])('explains a %d, with the answer and the command that sends it again', async (code, why) => {
    const { url } = await startServer(code, code === 301 ? { location: '/other' } : {});
    const { status, records } = await run(['send', 'order:paid', url], { env });
    expect(status).toBe(1);
    expect(records()).toMatchObject([
      {
        good: false,
        cause: expect.stringContaining(why),
        answer: '{"said":"no"}',
        repeat: `npx storefront-webhooks send order:paid ${url}`,
      },
    ]);
  });

  test.each([
    ['as two arguments', ['--secret', 'my secret']],
    ['as one', ['--secret=my secret']],
  ])('leaves a secret out of the command that sends it again: %s', async (_, secret) => {
    const { url } = await startServer(500);
    const args = ['send', ...secret, 'order:paid', url, '--id', 'whl_1'];
    const { records, stdout, stderr } = await run(args, { env: {} });
    const repeat = `npx storefront-webhooks send order:paid ${url} --id whl_1`;
    expect(records()).toMatchObject([{ repeat }]);
    expect(stdout + stderr).not.toContain('my secret');
  });

  test('quotes the names of secrets in the command that sends a saved delivery again', async () => {
    const { url } = await startServer(500);
    const file = join(makeFolder(), 'the secret');
    writeFileSync(file, SECRET);
    const { records } = await run(['replay', 'order:paid', url, '--secret-file', file], {
      env: {},
    });
    expect(records()).toMatchObject([
      { repeat: expect.stringMatching(`${url} --secret-file '${file}'$`) },
    ]);
  });

  test('explains a 401 of the receiver', async () => {
    const { url } = await openShop();
    const other = { WEBHOOK_SECRET: 'another secret of the same length' };
    const { status, records } = await run(['send', 'order:paid', url], { env: other });
    expect(status).toBe(1);
    expect(records()).toMatchObject([{ cause: expect.stringContaining('another secret') }]);
  });

  test('explains a 400 of the receiver by the body and the event, which it rejects so', async () => {
    const { url } = await openShop();
    const args = ['send', '-', url, '--event', 'order:paid'];
    const { status, records } = await run(args, { env, input: '\u{feff}{"id":"ord_1"}' });
    expect(status).toBe(1);
    expect(records()).toMatchObject([
      {
        status: 400,
        answer: expect.stringContaining('The body is not JSON in UTF-8.'),
        cause: expect.stringMatching(/no event .* or is not JSON in UTF-8\. The answer says which/),
        fix: expect.stringMatching(/headerPrefix.*without a byte order mark/),
      },
    ]);
    expect(JSON.stringify(records())).not.toMatch(/no signature|delivery id/);
  });

  test.each([200, 401])('a page with the status %d is no answer of a receiver', async (code) => {
    const page = { 'content-type': 'text/html; charset=utf-8' };
    const { url } = await startServer(code, page, '<title>\n  Log in </title><p>To go on');
    const { status, records } = await run(['send', 'order:paid', url], { env });
    expect(status).toBe(1);
    expect(records()).toMatchObject([
      {
        good: false,
        answer: 'Log in To go on',
        cause: `The answer is not from the receiver: ${code} text/html, titled "Log in".`,
        fix: expect.stringContaining('login page'),
      },
    ]);
  });

  test('reads a page with many unfinished titles once', async () => {
    const { url } = await startServer(
      502,
      { 'content-type': 'text/html' },
      '<title'.repeat(170_000),
    );
    const { records } = await run(['send', 'order:paid', url], { env });
    expect(records()).toMatchObject([{ cause: expect.stringContaining('502 text/html.') }]);
  });

  test('shows no amount for a record without a value', async () => {
    const { url } = await startServer();
    const { records } = await run(['send', 'product:out_of_stock', url], { env });
    expect(records()).toMatchObject([{ subject: expect.stringContaining('prd_'), amount: '' }]);
  });

  test('reports that no server answers', async () => {
    const { status, records } = await run(['send', 'order:paid', 'http://127.0.0.1:1/in'], { env });
    expect(status).toBe(1);
    expect(records()).toMatchObject([
      { status: 0, cause: expect.stringContaining('ECONNREFUSED') },
    ]);
  });

  test.each([
    [['order:payed', 'http://localhost/in'], /Did you mean "order:paid"\?/],
    [['order:paid', 'http://localhost/in', '--set', 'statu=5'], /no statu\. .*"status"\?.*--add/],
    [['order:paid', 'http://localhost/in', '--set', 'status'], /path=value/],
    [['order:paid', 'http://localhost/in', '--id', '👩'], /--id "👩" .*header/],
    [['order:paid', 'http://localhost/in', '--event', '订单'], /--event "订单" .*header/],
    [
      ['order:paid', 'http://localhost/in', '--forge-event', 'a\nb'],
      /"a\\nb" .*Leave out line breaks/,
    ],
    [['order:paid', 'http://shop.example/in'], /plain|https/i],
    [['order:paid', 'nowhere'], /address|URL/],
    [['order:paid', 'http://localhost/in', '--duplicate', '0'], /1 or more/],
  ])('that is used wrongly exits with 2: %j', async (args, hint) => {
    const { status, stdout, stderr } = await run(['send', ...args], { env });
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(hint);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});

describe('a secret', () => {
  test('that is missing exits with 2, and prints where to set it', async () => {
    const { status, stderr } = await run(['sign', '-'], { input: '{}' });
    expect([status, stderr]).toEqual([2, expect.stringMatching(/WEBHOOK_SECRET.*--secret-env/)]);
  });

  test('comes from a variable, a file, stdin, or the command line with a warning', async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'secret'), 'k\n');
    writeFileSync(join(folder, 'body'), '{}');
    const body = join(folder, 'body');
    const [named, filed, piped, told] = await Promise.all([
      run(['sign', body, '--secret-env', 'MINE'], { env: { MINE: 'k' } }),
      run(['sign', body, '--secret-file', join(folder, 'secret')]),
      run(['sign', body, '--secret-file', '-'], { input: 'k\n' }),
      run(['sign', body, '--secret', 'k']),
    ]);
    expect(named.stdout).toMatch(/^[0-9a-f]{128}\n$/);
    const marked = await run(['sign', body, '--secret-file', '-'], { input: '\u{feff}k\r\n' });
    for (const { stdout } of [filed, piped, told, marked]) expect(stdout).toBe(named.stdout);
    const asJson = await run(['sign', body, '--secret-env', 'MINE', '--json'], {
      env: { MINE: 'k' },
    });
    expect(asJson.records()).toEqual([{ signature: named.stdout.trim(), bytes: 2 }]);
    expect([named, filed, piped].map(({ stderr }) => stderr)).toEqual(['', '', '']);
    expect(told.stderr).toContain('is on the command line');
  });
});

test.each([
  [['sign', 'nowhere'], 'There is no file nowhere.'],
  [['sign', 'package.json/nowhere'], 'There is no file package.json/nowhere.'],
  [['sign', 'src'], 'src is a folder: name a file.'],
  [['verify', 'nowhere', 'ab'], 'There is no file nowhere.'],
  [['sign', 'package.json', '--secret-file', 'nowhere'], 'There is no file nowhere.'],
  [['send', 'src', 'http://localhost:1/'], 'src is a folder: name a file.'],
])('a mistyped file exits with 2: %j', async (args, told) => {
  const { status, stdout, stderr } = await run(args, { env });
  expect([status, stdout, stderr]).toEqual([2, '', expect.stringContaining(told)]);
});

describe('storefront-webhooks verify', () => {
  test('reports which secret a signature matches, or the next command to run', async () => {
    const body = join(makeFolder(), 'body');
    writeFileSync(body, '{"a":1}');
    const signature = (await run(['sign', body], { env })).stdout.trim();
    const fits = await run(['verify', body, signature, '--secret-env', 'A', '--secret-env', 'B'], {
      env: { A: 'another', B: SECRET },
    });
    expect([fits.status, fits.records()]).toEqual([0, [{ valid: true, secret: 'B', bytes: 7 }]]);
    const given = ['--secret', 'another', '--secret', SECRET, '--secret-env', 'A'];
    const second = await runInTerminal(300, ['verify', body, signature, ...given], {
      env: { A: 'a third' },
    });
    expect(second.lines.at(-1)).toContain('with the secret of --secret 2.');
    writeFileSync(body, '{"a": 1}');
    const wrong = await run(['verify', body, signature], { env });
    expect([wrong.status, wrong.records()]).toEqual([1, [{ valid: false, bytes: 8 }]]);
    const shown = await runInTerminal(300, ['verify', body, signature, '--secret-env', 'A'], {
      env: { A: 'another' },
    });
    expect(JSON.stringify(shown)).toMatch(/doctor .* --secret-env A/);
  });
});

describe('storefront-webhooks replay', () => {
  test('sends a folder in order, and compares each answer', async () => {
    const { url, delivered } = await openShop();
    const folder = 'fixtures/order-paid';
    const { status, records } = await run(['replay', folder, url], { env });
    const answers = records();
    expect([status, answers.every(({ good }) => good)]).toEqual([0, true]);
    expect(new Set(delivered).size).toBe(delivered.length);
    const shuffled = await run(['replay', folder, url, '--shuffle', '7'], { env });
    const again = await run(['replay', folder, url, '--shuffle', '7'], { env });
    const order = ({ records }: typeof again) => records().map(({ id }) => id);
    expect(order(shuffled)).toEqual(order(again));
    expect(order(shuffled)).not.toEqual(answers.map(({ id }) => id));
  });

  test('sends the files of all folders in the order of their paths, by number', async () => {
    const { url, seen } = await startServer();
    const folder = makeFolder();
    const files = ['day-2/9999-paid.hook.json', 'day-2/10000-paid.hook.json', 'day-10.hook.json'];
    for (const file of files) {
      const headers = [['X-Service-Webhook', file]];
      const recorded = { v: 1, event: 'order:paid', headers, body: { text: '{}' } };
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), JSON.stringify(recorded));
    }
    const { status } = await run(['replay', folder, url], { env });
    expect([status, seen.map(([, id]) => id)]).toEqual([0, files]);
  });

  test.each(['1', '3'])('sends copies, %s at once, of which one is handled', async (atOnce) => {
    const { url, delivered } = await openShop();
    const args = ['replay', 'order:paid', url, '--duplicate', '3', '--concurrency', atOnce];
    const { status, records } = await run(args, { env });
    expect([status, records().map(({ good }) => good)]).toEqual([0, [true, true, true]]);
    expect(delivered).toHaveLength(1);
    const again = await run(args, { env });
    const isGood = atOnce !== '1';
    expect(again.status).toBe(isGood ? 0 : 1);
    expect(again.records().map(({ good }) => good)).toEqual([isGood, true, true]);
  });

  test('of copies that have to be rejected, none may be a duplicate', async () => {
    const { url } = await openShop();
    const folder = makeFolder();
    const paid = JSON.parse(readFileSync('fixtures/order-paid/default.hook.json', 'utf8'));
    const forged = { ...paid, expect: { status: 401, outcome: 'rejected' } };
    writeFileSync(join(folder, 'forged.hook.json'), JSON.stringify(forged));
    const { status, records } = await run(['replay', folder, url, '--duplicate', '2'], { env });
    expect([status, records().map(({ good }) => good)]).toEqual([1, [false, false]]);
  });

  test('exits with 1 if an answer is not the expected one, and names it', async () => {
    const { url } = await openShop('another secret');
    const flags = ['--header-prefix', 'X-Selly-', '--secret-env', 'MINE', '--plain-http'];
    const args = ['replay', 'order:paid', url, ...flags];
    const { status, records } = await run(args, { env: { MINE: SECRET } });
    const repeat = expect.stringMatching(
      /^npx storefront-webhooks replay \S+ \S+ --header-prefix X-Selly- --secret-env MINE --plain-http$/,
    );
    expect([status, records()]).toMatchObject([1, [{ status: 401, good: false, repeat }]]);
  });

  test('sends a recording under its own header prefix, unless another is given', async () => {
    const { url } = await openShop();
    const file = join(makeFolder(), 'recorded.hook.json');
    const paid = JSON.parse(readFileSync('fixtures/order-paid/default.hook.json', 'utf8'));
    const headers = [['X-Selly-Event', 'order:paid']];
    writeFileSync(file, JSON.stringify({ ...paid, headers }));
    const replayed = (...flags: string[]) => run(['replay', file, url, ...flags], { env });
    const own = await replayed();
    expect([own.status, own.records()[0].status]).toEqual([1, 401]);
    expect(own.records()[0].repeat).not.toContain('--header-prefix');
    const given = await replayed('--header-prefix', 'X-Service-');
    expect([given.status, given.records()[0].outcome]).toEqual([0, 'handled']);
    const corrupt = { ...paid, headers, signing: 'corrupt' };
    writeFileSync(file, JSON.stringify(corrupt));
    const again = await replayed('--header-prefix', 'X-Service-');
    expect(again.records()[0].repeat).toContain(' --header-prefix X-Service-');
  });
});

describe('in a terminal', () => {
  test.each([80, 200, 0])(
    'of %d columns, no line is longer, and the reason of a failure is below',
    async (columns) => {
      const { url } = await startServer(404);
      const { status, lines, stdout } = await runInTerminal(columns, ['send', 'order:paid', url], {
        env,
      });
      expect(status).toBe(1);
      expect(stdout).toContain('\u001b[31m');
      expect(lines[0]).toMatch(/^✗ .*order:paid .*404/);
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns || 80);
      const labels = lines.slice(1).map((line) => line.slice(0, 9));
      expect(labels.filter((label) => label.trim() !== '')).toEqual([
        '  why:   ',
        '  change:',
        '  answer:',
        '  again: ',
      ]);
    },
  );

  test('--json prints JSON', async () => {
    const { url } = await openShop();
    const { stdout } = await runInTerminal(80, ['send', 'order:paid', url, '--json'], { env });
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'handled' });
  });
});

describe('completion', () => {
  test.each(['bash', 'zsh', 'fish'])('for %s names commands and flags', async (shell) => {
    const { status, stdout } = await run(['completion', shell]);
    expect(status).toBe(0);
    for (const word of ['sandbox', 'send', 'verify', '--forge-event', 'order:paid']) {
      expect(stdout).toContain(word);
    }
  });

  test.each([
    ['sen', 'send'],
    ['dead l', 'list'],
    ['dead redrive shop.db --ap', '--apply'],
    ['dead list --j', '--json'],
  ])('of bash completes %s', async (typed, completed) => {
    const { stdout } = await run(['completion', 'bash']);
    const file = join(makeFolder(), 'completion.bash');
    const words = typed.split(' ');
    writeFileSync(
      file,
      `${stdout}\nCOMP_WORDS=(storefront-webhooks ${typed}); COMP_CWORD=${words.length}; _storefront_webhooks; echo "\${COMPREPLY[@]}"`,
    );
    const { execFileSync } = await import('node:child_process');
    expect(execFileSync('bash', [file], { encoding: 'utf8' }).trim()).toBe(completed);
  });
});
