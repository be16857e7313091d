import { createHmac, timingSafeEqual } from 'node:crypto';

// Read once, because each access to the environment takes time.
const secret = process.env.WEBHOOK_SECRET;

/** The usual check by hand. */
export function isGenuine(body, signature) {
  const expected = createHmac('sha512', secret).update(body).digest();
  const given = Buffer.from(signature ?? '', 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** The receiver's answers, so that all servers send the same. */
export const HANDLED = { message: 'Handled.', outcome: 'handled' };
export const REJECTED = { message: 'The signature is missing or wrong.', outcome: 'rejected' };
