import { expect, test } from 'vitest';
import { respond } from '../../adapters/shared/web-response.js';
import { gate } from '../support/gate.js';

test('a response waits for the promise of a waitUntil that takes the late work', async () => {
  const { opened, open } = gate();
  const recorded = Promise.resolve();
  const response = { status: 200, headers: {}, body: '{}', recorded };
  const receive = async () => ({ ...response, outcome: 'handled', ran: [] }) as const;
  const order: string[] = [];
  const waitUntil = async (work: Promise<unknown>) => {
    if (work !== recorded) return;
    order.push('taken');
    await opened;
    order.push('waited');
  };
  const request = new Request('http://shop.example/', { method: 'POST' });
  const responding = respond(receive, request, '', waitUntil).then(() => order.push('responded'));
  await new Promise((resolve) => setTimeout(resolve));
  open();
  await responding;
  expect(order).toEqual(['taken', 'waited', 'responded']);
});
