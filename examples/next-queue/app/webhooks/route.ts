import { toNext } from 'storefront-webhooks/next';
import { makeReceiver } from '../../receiver';

export const POST = toNext(makeReceiver);
