import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { toNodeHandler } from 'storefront-webhooks/node';
import { makeReceiver } from './receiver.mjs';

const webhooks = toNodeHandler(makeReceiver());
const server = createServer(async (request, response) => {
  if (request.url === '/parsed') await text(request);
  webhooks(request, response);
});
server.listen(process.env.PORT, () => console.log(`http://localhost:${server.address().port}`));
