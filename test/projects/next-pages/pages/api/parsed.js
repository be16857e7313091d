import { toNextPages } from 'storefront-webhooks/next-pages';
import { makeReceiver } from '../../receiver.mjs';

export default toNextPages(makeReceiver);
