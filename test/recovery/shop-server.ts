// A shop in its own process, which a test kills.
import { createServer } from 'node:http';
import { toNodeHandler } from 'storefront-webhooks/node';
import { openMortalShop } from './mortal-shop.js';

const { PORT, SHOP_PLACE = '', SHOP_SECRET = '', SHOP_MS } = process.env;
const { receiver } = await openMortalShop(SHOP_PLACE, SHOP_SECRET, Number(SHOP_MS));
const server = createServer(toNodeHandler(receiver));
server.listen(Number(PORT), '127.0.0.1', () => console.log('listening'));
