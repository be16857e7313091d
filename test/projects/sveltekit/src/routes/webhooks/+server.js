import { toFetch } from 'storefront-webhooks/fetch';
import { makeReceiver } from '../../../receiver.mjs';

const webhooks = toFetch(makeReceiver);
export const POST = ({ request }) => webhooks(request);
