import * as z from 'zod/mini';
import { amount } from '../../api/parameters.js';
import { isJsonObject, type JsonObject } from '../../schemas/values.js';
import type { Account } from '../state/account.js';
import { toLink } from '../trade/link.js';
import type { Market } from '../trade/market.js';
import { findDecimalsFault, isCurrency } from '../trade/money.js';

/** A webhook URL. The client's schema takes HTTPS only; here, {@link wrongFields} also allows some plain HTTP. */
export const webhookUrl = z.string();

type Finds = (value: string) => boolean;

/**
 * Returns a check for errors that a schema cannot find, or that the client's schema leaves to the provider. The
 * check returns one text for each field.
 *
 * @param before - The record before the change. Absent for a new record.
 */
export const wrongFields =
  ({ account, outbox }: Market, before: object = {}) =>
  (parameters: JsonObject): string[] => {
    const webhook: readonly [Finds, string] = [
      (url) => outbox.takes(url),
      'has to be a URL that begins with https://, or http:// on this machine, and holds no password',
    ];
    const link: readonly [Finds, string] = [
      (url) => toLink(url) !== undefined,
      'has to be a URL that begins with https:// or http://',
    ];
    const checks: Readonly<Record<string, readonly [Finds, string]>> = {
      url: webhook,
      webhook_url: webhook,
      dynamic_url: webhook,
      return_url: link,
      redirect_url: link,
      currency: [isCurrency, 'has to be an ISO 4217 code'],
    };
    const wrong = Object.entries(checks).flatMap(([name, [isGood, fault]]) => {
      const value = parameters[name];
      return typeof value === 'string' && !isGood(value) ? [`${name} ${fault}`] : [];
    });
    const changed = { ...Object(before), ...parameters };
    return [
      ...wrong,
      ...wrongBounds(changed),
      ...wrongAmounts(changed),
      ...wrongLists(parameters),
      ...wrongProducts(account, parameters),
    ];
  };

function wrongBounds({ minimum_quantity: least, maximum_quantity: most }: JsonObject): string[] {
  const isWrong = typeof least === 'number' && typeof most === 'number' && least > most;
  return isWrong ? ['maximum_quantity has to be at least minimum_quantity'] : [];
}

function wrongAmounts({ currency, ...amounts }: JsonObject): string[] {
  if (typeof currency !== 'string' || !isCurrency(currency)) return [];
  return ['price', 'value'].flatMap((name) => {
    const { data, success } = amount.safeParse(amounts[name]);
    const fault = success ? findDecimalsFault(data, currency) : undefined;
    return fault === undefined ? [] : [`${name} has to ${fault}`];
  });
}

function wrongLists(parameters: JsonObject): string[] {
  return ['gateways', 'events', 'product_ids'].flatMap((name) => {
    const list = parameters[name];
    if (!Array.isArray(list) || list.some(isJsonObject)) return [];
    return new Set(list).size < list.length ? [`${name} must not contain duplicates`] : [];
  });
}

/** Checks that the ids in a category are those of products (specification: Category). */
function wrongProducts({ products }: Account, { product_ids: ids }: JsonObject): string[] {
  if (!Array.isArray(ids)) return [];
  return ids.flatMap((id, at) => {
    if (typeof id !== 'string' || products.get(id)) return [];
    const hint = id.includes(',') ? '. A list is sent as product_ids[0]=…&product_ids[1]=…' : '';
    return [`product_ids[${at}] has to be the id of a product${hint}`];
  });
}
