import { replay } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startExample } from '../support/program.js';
import type { Started } from '../support/start.js';
import { WEBHOOK_SECRET } from './shop.js';

describe('the console of the example', () => {
  let shop: Started;
  beforeAll(async () => {
    shop = await startExample('examples/opentelemetry.ts', {
      env: { WEBHOOK_SECRET },
    });
  });
  afterAll(() => shop?.stop());

  test('shows the nested spans of a delivery, and the metrics', async () => {
    const url = `${shop.origin}/webhooks`;
    await replay(url, 'order:paid', { id: 'whl_1', secret: WEBHOOK_SECRET });
    await replay(url, 'order:paid', { id: 'whl_2', secret: 'another secret' });
    shop.terminate();
    expect(await shop.ended).toBe(0);
    const printed = shop.output().match(/^(span|metric).*$/gm);
    expect(printed?.map((line) => line.replace(/\d+\.\d ms/, '… ms').replace(/ +/g, ' '))).toEqual([
      expect.stringMatching(
        /^span process order:paid … ms destination.name=order:paid message.id=whl_1 message.body.size=\d+ source=webhook outcome=handled attempt=1$/,
      ),
      'span handle onPaid … ms handler=onPaid attempt=1',
      'span mail the buyer … ms',
      'metric storefront_webhooks.deliveries 1 outcome=handled destination.name=order:paid source=webhook',
      'metric storefront_webhooks.deliveries 1 outcome=rejected destination.name=_OTHER rejection.code=signature_invalid',
      'metric messaging.process.duration 1 × … ms destination.name=order:paid outcome=handled',
      'metric storefront_webhooks.handler.duration 1 × … ms handler=onPaid',
      'metric storefront_webhooks.store.deliveries 0 state=dead',
      'metric storefront_webhooks.store.deliveries 0 state=stalled',
      'metric storefront_webhooks.store.deliveries 0 state=failing',
    ]);
    expect(printed?.[1]).toMatch(/^span {6}handle onPaid/);
    expect(printed?.[2]).toMatch(/^span {8}mail the buyer/);
  });
});
