import { rate } from '../trade/customers.js';
import type { Market } from '../trade/market.js';
import { confirm, pay } from '../trade/pay.js';
import { Refusal } from '../trade/refusal.js';
import { chargeBack, expire, refund } from '../trade/reverse.js';

/** The actions of the checkout's buttons, by button value. */
const ACTIONS: Readonly<
  Record<string, (market: Market, orderId: string, form: URLSearchParams) => unknown>
> = {
  pay: (market, id) => pay(market, id),
  'pay-part': (market, id, form) => pay(market, id, { value: (form.get('value') ?? '').trim() }),
  pend: (market, id) => pay(market, id, { pending: true }),
  confirm: (market, id) => confirm(market, id),
  refund,
  'charge-back': chargeBack,
  expire,
  rate: (market, id, form) => rate(market, id, readFeedback(form)),
};

/** Runs the action of a checkout button. @throws {Refusal} */
export function act(market: Market, orderId: string, form: URLSearchParams): void {
  const action = new Map(Object.entries(ACTIONS)).get(form.get('action') ?? '');
  if (!action) throw new Refusal('parameter_invalid', 'There is no such button.');
  action(market, orderId, form);
}

function readFeedback(form: URLSearchParams): { rating: number; message: string } {
  const rating = form.get('rating') ?? '';
  if (!/^[1-5]$/.test(rating)) {
    throw new Refusal('parameter_invalid', 'The rating has to be from 1 to 5.');
  }
  return { rating: Number(rating), message: (form.get('message') ?? '').trim() };
}
