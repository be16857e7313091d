import { toNext } from 'storefront-webhooks/next';
import { makeReceiver } from '../../receiver.mjs';

const webhooks = toNext(makeReceiver);
export async function POST(request) {
  await request.json();
  return webhooks(request);
}
