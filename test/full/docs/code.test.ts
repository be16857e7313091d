import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createReceiver } from 'storefront-webhooks';
import { loadFixture, replay, shippedFixtures } from 'storefront-webhooks/testing';
import { describe, expect, test, vi } from 'vitest';
import { blocks, PAGES, type Page } from '../../docs/pages.js';
import { compile } from '../../support/compile.js';

const everything = PAGES.filter(({ isGenerated }) => !isGenerated);
const ofPage = (path: string, language: string) =>
  everything.filter((page) => page.path === path).flatMap((page) => blocks(page, language));

describe('the examples of the pages', () => {
  test('compile, and a mistake would be noticed', () => {
    const examples = everything.flatMap((page: Page) => blocks(page, 'ts'));
    expect(examples.length).toBeGreaterThan(50);
    const mistakes = [
      "receiver.on('order:piad', () => {});",
      "receiver.on('order:paid', ({ payload }) => log(payload.emial));",
    ];
    const complaints = compile(
      [...examples, ...mistakes],
      ['test/docs/reader.d.ts', 'test/examples/globals.d.ts'],
    );
    const [first = [], second = []] = complaints.splice(examples.length);
    expect(complaints).toEqual(examples.map(() => []));
    expect(first).toHaveLength(1);
    expect(second).toHaveLength(1);
  });

  test('are handled as they expect if they are fixtures', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fixtures-'));
    try {
      const [whole = '', variant = ''] = ofPage('docs/test.md', 'json');
      writeFileSync(join(folder, 'default.hook.json'), whole);
      writeFileSync(join(folder, 'variant.hook.json'), variant);
      const bodies: object[] = [];
      for (const name of ['default', 'variant']) {
        const fixture = loadFixture(join(folder, `${name}.hook.json`));
        bodies.push(JSON.parse(Buffer.from(fixture.body).toString()));
        const receiver = createReceiver({ secret: 'a secret for tests' }).onPaid(() => {});
        expect(await replay(receiver, fixture)).toMatchObject({ ...fixture.expect });
      }
      const [first = {}, changed] = bodies;
      expect(changed).toEqual({ ...first, quantity: 2 });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

test('the test on the page passes with the receiver of the start', async () => {
  const [example = ''] = ofPage('docs/test.md', 'ts');
  const makeReceiver = (secret: string) => createReceiver({ secret }).onPaid(() => {});
  const run = vi.fn();
  const names = ['test', 'expect', 'replay', 'makeReceiver'];
  const body = example.replaceAll(/^import .*$/gm, '');
  new Function(...names, body)(run, expect, replay, makeReceiver);
  expect(run).toHaveBeenCalledOnce();
  await run.mock.calls[0]?.[1]();
});

test('the page states the number of shipped deliveries', () => {
  expect(readFileSync('docs/test.md', 'utf8')).toContain('More than 70 deliveries ship');
  expect(shippedFixtures().length).toBeGreaterThan(70);
});
