import * as z from 'zod/mini';
import { toTimestamp } from '../clock.js';
import { faultSchema, findWrong } from '../fault.js';
import { seed } from '../seed/seed.js';
import { ErrorAnswer } from '../service/answers.js';
import { toParameters } from '../service/form.js';
import type { KeptOrder } from '../state/kinds.js';
import { buy } from '../trade/buy.js';
import { ask, rate, write } from '../trade/customers.js';
import type { Market } from '../trade/market.js';
import { confirm, pay } from '../trade/pay.js';
import { chargeBack, expire, refund } from '../trade/reverse.js';
import { showFeedback, showQuery } from '../trade/to-json.js';
import { advance } from './advance.js';
import { type ControlOperation, NOTHING, operation } from './operation.js';
import { PARAMETERS } from './parameters.js';

export const ORDER = { $ref: '#/components/schemas/Order' };
const RECORD = { type: 'object', description: 'A record that the specification does not show.' };
const FAULT = { type: 'object', properties: { operation: { type: 'string' } } };
const CLOCK = {
  type: 'object',
  properties: {
    mode: { enum: ['real', 'manual', 'fast'] },
    now: { type: 'string', format: 'date-time' },
  },
  required: ['mode', 'now'],
};
const SETTINGS = {
  type: 'object',
  properties: {
    gateways: { type: 'array', items: { type: 'string' } },
    webhook_secret: { type: 'string' },
    read_only: { type: 'boolean' },
  },
  required: ['gateways', 'webhook_secret', 'read_only'],
};

/** The operations that only a sandbox has, by operation id. */
export const controlOperations: Readonly<Record<string, ControlOperation>> = {
  'sandbox.buy': operation({
    method: 'POST',
    path: '/sandbox/orders',
    summary: 'A customer orders a product.',
    sent: PARAMETERS.buy,
    status: 201,
    returned: ORDER,
    run: (market, sent) => buy(market, sent).shown,
  }),
  'sandbox.pay': operation({
    method: 'POST',
    path: '/sandbox/orders/:id/pay',
    summary: 'A customer pays an order, or a part of it.',
    sent: PARAMETERS.pay,
    status: 200,
    returned: ORDER,
    run: (market, sent, id) => pay(market, id, sent).shown,
  }),
  'sandbox.confirm': operation({
    method: 'POST',
    path: '/sandbox/orders/:id/confirm',
    summary: 'A payment gets its next confirmations.',
    sent: PARAMETERS.confirm,
    status: 200,
    returned: ORDER,
    run: (market, { confirmations }, id) => confirm(market, id, confirmations).shown,
  }),
  'sandbox.refund': onOrder('refund', 'The seller gives the money back.', refund),
  'sandbox.chargeBack': onOrder('charge-back', 'The bank takes the money back.', chargeBack),
  'sandbox.expire': onOrder('expire', 'An order that was not fully paid is closed.', expire),
  'sandbox.rate': operation({
    method: 'POST',
    path: '/sandbox/orders/:id/feedback',
    summary: 'A customer gives feedback on an order, or changes it.',
    sent: PARAMETERS.rate,
    status: 200,
    returned: RECORD,
    run: (market, sent, id) => showFeedback(rate(market, id, sent), market.unknowns),
  }),
  'sandbox.ask': operation({
    method: 'POST',
    path: '/sandbox/queries',
    summary: 'A customer asks the seller a question.',
    sent: PARAMETERS.ask,
    status: 201,
    returned: RECORD,
    run: (market, sent) => showQuery(ask(market, sent), market.unknowns),
  }),
  'sandbox.write': operation({
    method: 'POST',
    path: '/sandbox/queries/:id/messages',
    summary: 'The seller replies to a query, or the customer writes again.',
    sent: PARAMETERS.write,
    status: 200,
    returned: RECORD,
    run: (market, sent, id) => showQuery(write(market, id, sent), market.unknowns),
  }),
  'sandbox.clock': operation({
    method: 'GET',
    path: '/sandbox/clock',
    summary: "The account's time.",
    sent: NOTHING,
    status: 200,
    returned: CLOCK,
    run: showClock,
  }),
  'sandbox.advance': operation({
    method: 'POST',
    path: '/sandbox/clock',
    summary: "Moves the account's time ahead by milliseconds, and runs everything due on the way.",
    sent: z.object({ ms: z.int().check(z.minimum(0)) }),
    status: 200,
    returned: CLOCK,
    async run(market, { ms }) {
      await advance(market, ms);
      return showClock(market);
    },
  }),
  'sandbox.faults': operation({
    method: 'GET',
    path: '/sandbox/faults',
    summary: 'The faults that have not yet struck as often as planned.',
    sent: NOTHING,
    status: 200,
    returned: { type: 'array', items: FAULT },
    run: ({ faults }) => faults.list(),
  }),
  'sandbox.addFault': {
    method: 'POST',
    path: '/sandbox/faults',
    summary:
      'Plans a fault: an endpoint answers with an error, or a webhook is lost, late, repeated or out of order.',
    sent: faultSchema,
    status: 201,
    returned: FAULT,
    async run({ faults }, _, sent) {
      const fault = toParameters(faultSchema, sent);
      const errors = findWrong(fault);
      if (errors.length > 0) throw new ErrorAnswer(400, { errors });
      faults.add(faultSchema.parse(fault));
      return fault;
    },
  },
  'sandbox.clearFaults': operation({
    method: 'DELETE',
    path: '/sandbox/faults',
    summary: 'Removes all faults.',
    sent: NOTHING,
    status: 204,
    run: ({ faults }) => void faults.clear(),
  }),
  'sandbox.settings': operation({
    method: 'GET',
    path: '/sandbox/settings',
    summary: 'The settings of the account.',
    sent: NOTHING,
    status: 200,
    returned: SETTINGS,
    run: showSettings,
  }),
  'sandbox.set': operation({
    method: 'PUT',
    path: '/sandbox/settings',
    summary:
      'Changes settings: configured gateways, the webhook secret, whether the key may only read.',
    sent: PARAMETERS.set,
    status: 200,
    returned: SETTINGS,
    run(market, settings) {
      market.account.set(settings);
      return showSettings(market);
    },
  }),
  'sandbox.seed': operation({
    method: 'POST',
    path: '/sandbox/seed',
    summary: 'Fills an empty account with a shop that has sold for some days.',
    sent: NOTHING,
    status: 204,
    async run(market) {
      await seed(market);
      return undefined;
    },
  }),
  'sandbox.reset': operation({
    method: 'POST',
    path: '/sandbox/reset',
    summary:
      "Deletes the account's records and faults, and restores its initial settings. Its time stays.",
    sent: NOTHING,
    status: 204,
    run(market) {
      market.account.reset();
      market.faults.clear();
      return undefined;
    },
  }),
};

function onOrder(
  name: string,
  summary: string,
  run: (market: Market, orderId: string) => KeptOrder,
): ControlOperation {
  return operation({
    method: 'POST',
    path: `/sandbox/orders/:id/${name}`,
    summary,
    sent: NOTHING,
    status: 200,
    returned: ORDER,
    run: (market, _, id) => run(market, id).shown,
  });
}

function showClock({ account: { clock } }: Market): object {
  return { mode: clock.mode, now: toTimestamp(clock.now()) };
}

function showSettings({ account: { settings } }: Market): object {
  const { gateways, webhook_secret, read_only } = settings;
  return { gateways, webhook_secret, read_only };
}
