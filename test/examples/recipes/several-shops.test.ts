import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replay } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startExample } from '../../support/program.js';
import type { Started } from '../../support/start.js';

const secrets = { KEYS_SECRET: 'the secret of keys', GAMES_SECRET: 'the secret of games' };
describe('several shops', () => {
  let folder: string;
  let shop: Started;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'shops-'));
    const env = { ...secrets, DATABASE_FILE: join(folder, 'webhooks.db') };
    shop = await startExample('examples/recipes/several-shops.ts', {
      env,
    });
  });
  afterAll(async () => {
    await shop?.stop();
    rmSync(folder, { recursive: true });
  });

  async function send(path: string, secret: string): Promise<string> {
    const { status, outcome } = await replay(shop.origin + path, 'order:paid', { secret });
    return `${status} ${outcome}`;
  }

  test('the same order in two shops is delivered once in each', async () => {
    for (const [path, secret] of [
      ['/webhooks/keys', secrets.KEYS_SECRET],
      ['/webhooks/games?from=dashboard', secrets.GAMES_SECRET],
    ] as const) {
      expect(await send(path, secret)).toBe('200 handled');
      expect(await send(path, secret)).toBe('200 duplicate');
    }
    const delivered = shop.output().match(/Delivered order \S+ of \w+/g) ?? [];
    expect(delivered.map((line) => line.split(' ').at(-1))).toEqual(['keys', 'games']);
  });

  test('a delivery at the address of another shop, or of no shop, is rejected', async () => {
    expect(await send('/webhooks/games', secrets.KEYS_SECRET)).toBe('401 rejected');
    expect(await send('/webhooks/toys', secrets.KEYS_SECRET)).toBe('401 rejected');
    expect(await send('/webhooks', secrets.KEYS_SECRET)).toBe('401 rejected');
  });

  test.each([
    ['keys', { ...secrets, KEYS_SECRET: '' }],
    ['games', { KEYS_SECRET: secrets.KEYS_SECRET }],
  ])('the example does not start without the secret of %s', async (name, env) => {
    const started = startExample('examples/recipes/several-shops.ts', {
      env: { ...env, DATABASE_FILE: join(folder, 'unused.db') },
    });
    await expect(started).rejects.toThrow(`Set the secret of the shop ${name}.`);
  });

  test('the example ends on SIGTERM', async () => {
    shop.terminate();
    expect(await shop.ended).toBe(0);
  });
});
