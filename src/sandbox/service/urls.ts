import * as z from 'zod/mini';
import type { JsonObject } from '../../schemas/json.js';
import type { Market } from '../trade/market.js';

/** What the client sends as HTTPS only may be plain HTTP here; which, {@link refusedUrls} finds. */
export const webhookUrl = z.string();

/** Finds webhook URLs that are not taken: they have to be HTTPS, or lead to this machine. */
export const refusedUrls =
  ({ outbox }: Market) =>
  (parameters: JsonObject): string[] =>
    ['url', 'webhook_url']
      .filter((name) => {
        const url = parameters[name];
        return typeof url === 'string' && !outbox.takes(url);
      })
      .map((name) => `${name} has to be a URL that begins with https://`);
