import { toNext } from 'storefront-webhooks/next';
import { makeReceiver } from '../../receiver.mjs';

export const POST = toNext(makeReceiver);
