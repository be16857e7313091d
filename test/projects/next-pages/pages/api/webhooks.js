import { toNextPages } from 'storefront-webhooks/next-pages';
import { makeReceiver } from '../../receiver.mjs';

export const config = { api: { bodyParser: false } };
export default toNextPages(makeReceiver);
