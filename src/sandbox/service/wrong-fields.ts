import * as z from 'zod/mini';
import { isJsonObject, type JsonObject } from '../../schemas/json.js';
import type { Market } from '../trade/market.js';

/** What the client sends as HTTPS only may be plain HTTP here; which, {@link wrongFields} finds. */
export const webhookUrl = z.string();

const CURRENCIES = new Set(Intl.supportedValuesOf('currency'));

type Finds = (value: string) => boolean;

/**
 * Finds what a schema cannot, or that of the client leaves to the provider: one text for each field.
 *
 * @param before - The record that is changed, if it is one.
 */
export const wrongFields =
  ({ outbox }: Market, before: object = {}) =>
  (parameters: JsonObject): string[] => {
    const webhook: readonly [Finds, string] = [
      (url) => outbox.takes(url),
      'has to be a URL that begins with https://, or http:// on this machine, and holds no password',
    ];
    const checks: Readonly<Record<string, readonly [Finds, string]>> = {
      url: webhook,
      webhook_url: webhook,
      dynamic_url: webhook,
      currency: [(code) => CURRENCIES.has(code.toUpperCase()), 'has to be an ISO 4217 code'],
    };
    const wrong = Object.entries(checks).flatMap(([name, [isGood, fault]]) => {
      const value = parameters[name];
      return typeof value === 'string' && !isGood(value) ? [`${name} ${fault}`] : [];
    });
    return [
      ...wrong,
      ...wrongBounds({ ...Object(before), ...parameters }),
      ...wrongGateways(parameters),
    ];
  };

function wrongBounds({ minimum_quantity: least, maximum_quantity: most }: JsonObject): string[] {
  const isWrong = typeof least === 'number' && typeof most === 'number' && least > most;
  return isWrong ? ['maximum_quantity has to be at least minimum_quantity'] : [];
}

function wrongGateways({ gateways }: JsonObject): string[] {
  if (!Array.isArray(gateways) || gateways.some(isJsonObject)) return [];
  return new Set(gateways).size < gateways.length ? ['gateways must not name one twice'] : [];
}
