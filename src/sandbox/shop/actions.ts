import { amount } from '../../api/parameters.js';
import { rate } from '../trade/customers.js';
import type { Market } from '../trade/market.js';
import { confirm, pay } from '../trade/pay.js';
import { Refusal } from '../trade/refusal.js';
import { chargeBack, expire, refund } from '../trade/reverse.js';

/** What the buttons of the checkout do, by their value. */
const ACTIONS: Readonly<
  Record<string, (market: Market, orderId: string, form: URLSearchParams) => unknown>
> = {
  pay: (market, id) => pay(market, id),
  'pay-part': (market, id, form) => pay(market, id, { value: readAmount(form) }),
  pend: (market, id) => pay(market, id, { pending: true }),
  confirm: (market, id) => confirm(market, id),
  refund,
  'charge-back': chargeBack,
  expire,
  rate: (market, id, form) => rate(market, id, readFeedback(form)),
};

/** Does what a button of the checkout says. @throws {Refusal} */
export function act(market: Market, orderId: string, form: URLSearchParams): void {
  const action = new Map(Object.entries(ACTIONS)).get(form.get('action') ?? '');
  if (!action) throw new Refusal('parameter_invalid', 'There is no such button.');
  action(market, orderId, form);
}

function readAmount(form: URLSearchParams): string {
  const value = (form.get('value') ?? '').trim();
  if (amount.safeParse(value).success) return value;
  throw new Refusal('parameter_invalid', 'The amount has to be a number such as 4.50.');
}

function readFeedback(form: URLSearchParams): { rating: number; message: string } {
  const rating = form.get('rating') ?? '';
  if (!/^[1-5]$/.test(rating)) {
    throw new Refusal('parameter_invalid', 'The rating has to be from 1 to 5.');
  }
  return { rating: Number(rating), message: (form.get('message') ?? '').trim() };
}
