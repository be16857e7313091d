import { once } from 'node:events';
import { createServer } from 'node:http';
import { createReceiver } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';

/** A seller's server: it receives webhooks, and has the page that customers return to. */
export interface SellerServer {
  readonly webhooks: string;
  readonly thanks: string;
  /** The ids of the orders for which it received `order:paid`. */
  readonly paid: string[];
  close(): Promise<void>;
}

export async function startSellerServer(secret: string): Promise<SellerServer> {
  const paid: string[] = [];
  const receiver = createReceiver({ secret }).on('order:paid', ({ payload }) => {
    paid.push(payload.id);
  });
  const receive = toNodeHandler(receiver);
  const server = createServer(async (request, response) => {
    if (request.url === '/webhooks') await receive(request, response);
    else response.setHeader('content-type', 'text/html').end('<title>Me</title><h1>Thank you</h1>');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' && address?.port}`;
  return {
    webhooks: `${origin}/webhooks`,
    thanks: `${origin}/thanks?order=7`,
    paid,
    async close() {
      server.closeAllConnections();
      await receiver.close({ server });
    },
  };
}
