import { sign } from '../../request/signature.js';
import { toUtf8 } from '../../runtime/bytes.js';
import type { KeptWebhookLog } from '../state/kinds.js';
import type { Market } from '../trade/market.js';
import type { Message } from './attempt.js';
import { isDynamicCall } from './dynamic-call.js';

/**
 * Returns the webhook of a log: its payload as JSON, signed over the bytes that are sent (specification:
 * Events). Each attempt sends the same bytes, signed with the account's secret at that time.
 */
export function toMessage(
  log: KeptWebhookLog,
  { account, unknowns }: Pick<Market, 'account' | 'unknowns'>,
  headerPrefix: string,
): Message {
  const body = toUtf8(JSON.stringify(log.payload));
  const isSigned = !isDynamicCall(log) || unknowns.dynamicCall === 'post-json';
  const signature = sign(body, account.settings.webhook_secret);
  return {
    body,
    headers: {
      'Content-Type': 'application/json',
      'Content-Length': `${body.length}`,
      'User-Agent': 'storefront-sandbox',
      [`${headerPrefix}Event`]: log.event,
      [`${headerPrefix}Webhook`]: log.id,
      ...(isSigned && { [`${headerPrefix}Signature`]: signature }),
    },
  };
}
