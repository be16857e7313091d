import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { describe, expect, test } from 'vitest';
import { begin, run as runCommand, runInTerminal } from './command.js';

const env = { WEBHOOK_SECRET: 'the-own-secret' };
const folder = mkdtempSync(join(tmpdir(), 'storefront-webhooks-'));

const sign = (body: string) => createHmac('sha512', env.WEBHOOK_SECRET).update(body).digest('hex');

const run = (...args: string[]) => runCommand(['doctor', ...args], { env });

function save(name: string, body: string): string {
  const file = join(folder, name);
  writeFileSync(file, body);
  return file;
}

const sent = '{"id": "ord_1", "value": 10.0}';

describe('storefront-webhooks doctor', () => {
  test('exits with 0 if the signature matches', async () => {
    const { status, stdout, stderr } = await run(save('good.json', sent), sign(sent));
    expect([status, JSON.parse(stdout).result, stderr]).toEqual([0, 'genuine', '']);
  });

  test('names how an Express app has changed a body, with the line to change, and exits with 1', async () => {
    const app = express().use(express.json());
    const seen = new Promise<string>((resolve) => {
      app.post('/', (request, response) => {
        resolve(JSON.stringify(request.body));
        response.end();
      });
    });
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const headers = { 'content-type': 'application/json' };
    await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: sent });
    const file = save('parsed.json', await seen);
    server.close();
    const { status, stdout, stderr } = await run(file, sign(sent), '--framework', 'express');
    const found = JSON.parse(stdout);
    expect([status, found.result]).toEqual([1, 'explained']);
    expect(found.steps).toEqual([
      expect.objectContaining({ code: 'number_rewritten' }),
      expect.objectContaining({ code: 'reserialized' }),
    ]);
    expect(found.change).toContain('above express.json()');
    expect(found.difference.at).toBe(6);
    expect(stderr).toContain('bytes of the body');
    for (const kept of [env.WEBHOOK_SECRET, sign(await seen), sign(sent)])
      expect(stdout + stderr).not.toContain(kept);
  });

  test('prints how many transformations it tried if none explains the mismatch, and exits with 1', async () => {
    const { status, stdout } = await run(save('forged.json', '{"value":1}'), sign('another'));
    const { result, tried } = JSON.parse(stdout);
    expect([status, result, tried > 500]).toEqual([1, 'unexplained', true]);
  });

  test.each([['abc'], ['']])(
    'blames no secret for the signature %j, which cannot be an HMAC-SHA512',
    async (signature) => {
      const args = ['doctor', save('unsigned.json', sent), signature];
      const { status, stdout, lines } = await runInTerminal(300, args, { env });
      expect([status, lines.slice(1, 3)]).toEqual([
        1,
        [
          expect.stringMatching(/why: .* cannot be an HMAC-SHA512, so nothing was tried\.$/),
          expect.stringMatching(/change: give the whole value of the signature header/),
        ],
      ]);
      expect(stdout).not.toContain('secret');
    },
  );

  test.each([
    ['[object Object]', 'a parser has parsed it'],
    ['{}', 'no parser fits the Content-Type'],
  ])('remarks that the body %j is what other code leaves', async (text, remark) => {
    const { stdout } = await run(save('left.json', text), sign(sent));
    expect(JSON.parse(stdout).observations).toEqual([expect.stringContaining(remark)]);
  });

  /** Saves a recording; an empty signature is one that `record` has removed. */
  const recording = (name: string, text: string, signature = sign(sent)) =>
    save(
      name,
      JSON.stringify({
        v: 1,
        event: 'order:paid',
        headers: [['X-Service-Signature', signature]],
        body: { text },
        signing: 'keep',
      }),
    );

  test.each([
    ['another', sign('another body')],
    ['no', ''],
  ])('takes the given signature if the recording has %s signature', async (_, recorded) => {
    const file = recording('app.hook.json', sent, recorded);
    const { status, stdout } = await run(file, sign(sent));
    expect([status, JSON.parse(stdout).result]).toEqual([0, 'genuine']);
  });

  test('marks the first byte that differs, also far from the beginning', async () => {
    const file = save('rewritten.json', sent.replace('.0', ''));
    const { lines } = await runInTerminal(120, ['doctor', file, sign(sent)], { env });
    const at = lines.findIndex((line) => line.trim() === '^^');
    const column = lines[at]?.indexOf('^^') ?? 0;
    const marked = lines.slice(at - 2, at).map((line) => line.slice(column, column + 2));
    expect(marked).toEqual(['.', '}'].map((sign) => Buffer.from(sign).toString('hex')));
  });

  test('names the hop that changed the body, from two recordings', async () => {
    const edge = recording('edge.hook.json', sent);
    const { status, stdout } = await run(
      recording('app.hook.json', `${sent}\n`),
      '--compare',
      edge,
    );
    const { hop } = JSON.parse(stdout);
    expect([status, hop.changed, hop.steps[0].code]).toEqual([1, 'between', 'line_end_gained']);
  });

  test('exits with 1 if the two recordings are swapped', async () => {
    const app = recording('app.hook.json', `${sent}\n`);
    const { status, stdout } = await run(recording('edge.hook.json', sent), '--compare', app);
    const { result, hop } = JSON.parse(stdout);
    expect([status, result, hop.other]).toEqual([1, 'genuine', 'explained']);
  });

  test.each([
    ['between', 'the genuine one', sign(sent)],
    ['both', 'another wrong one', sign('a third body')],
    ['before', 'none', ''],
    ['before', 'the same one in capital letters', sign('another body').toUpperCase()],
  ])(
    'finds %s if a recording has a wrong signature and the nearer one has %s',
    async (changed, _, signature) => {
      const app = recording('app.hook.json', sent, sign('another body'));
      const { status, stdout } = await run(
        app,
        '--compare',
        recording('edge.hook.json', sent, signature),
      );
      expect([status, JSON.parse(stdout).hop]).toMatchObject([1, { changed }]);
    },
  );

  test.each([[[]], [['no-such-file', 'a']], [['package.json']], [['a', 'b', '--listen']]])(
    'that is used wrongly exits with 2: %j',
    async (args) => {
      const { status, stdout, stderr } = await run(...args);
      expect([status, stdout]).toEqual([2, '']);
      expect(stderr).not.toMatch(/\n\s+at /);
    },
  );

  test('rejects a request from a foreign page with --listen', async () => {
    const listening = begin(['doctor', '--listen', '--timeout', '20000'], { env });
    const [url = ''] = await listening.says(/http:\/\/[\d.:]+\//);
    const headers = { origin: 'http://evil.example' };
    expect((await fetch(url, { method: 'POST', headers, body: '{}' })).status).toBe(403);
    listening.interrupt();
    expect((await listening.ended).status).toBe(1);
  });

  test('takes one delivery with --listen, and reveals nothing in the response', async () => {
    const listening = begin(['doctor', '--listen', '--timeout', '20000'], { env });
    const [url] = await listening.says(/http:\/\/[\d.:]+\//);
    const headers = { 'X-Brand-Signature': sign(sent) };
    const response = await fetch(url, { method: 'POST', headers, body: `${sent}\n` });
    const message = 'Received by storefront-webhooks doctor. No handler has run.';
    expect([response.status, await response.json()]).toEqual([503, { message }]);
    const { status, stdout } = await listening.ended;
    expect([status, JSON.parse(stdout).steps[0].code]).toEqual([1, 'line_end_gained']);
  });

  test('ends after its timeout, and when it is interrupted', async () => {
    expect((await run('--listen', '--timeout', '50')).status).toBe(1);
    const listening = begin(['doctor', '--listen'], { env });
    await listening.says(/Send one/);
    listening.interrupt();
    expect((await listening.ended).status).toBe(1);
  });
});
