import { toFetch } from 'storefront-webhooks/fetch';
import { makeReceiver } from '../receiver.mjs';

const webhooks = toFetch(makeReceiver);
export async function action({ request }) {
  await request.json();
  return webhooks(request);
}
