import * as z from 'zod/mini';
import { isLoopback } from '../../address.js';

/** Where webhooks may be sent to: HTTPS, or plain HTTP on this machine. */
export const webhookUrl = z
  .string()
  .check(z.refine(isWebhookUrl, 'has to be a URL that begins with https://'));

function isWebhookUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
}
