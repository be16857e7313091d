import { fromNodeMiddleware } from 'h3';
import { toNodeHandler } from 'storefront-webhooks/node';
import { makeReceiver } from '../receiver.mjs';

export default fromNodeMiddleware(toNodeHandler(makeReceiver));
