import { toNext } from 'storefront-webhooks/next';
import { makeReceiver } from '../../receiver';

export const runtime = 'edge';

export const POST = toNext(makeReceiver);
