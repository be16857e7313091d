import { toFetch } from 'storefront-webhooks/fetch';
import { makeReceiver } from '../receiver.mjs';

const webhooks = toFetch(makeReceiver);
export const action = ({ request }) => webhooks(request);
