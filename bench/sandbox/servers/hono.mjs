import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { makeProduct } from '../product.mjs';

// The sandbox's answer, byte for byte.
const { product } = await makeProduct();
const app = new Hono();
app.get('/api/v2/products/:id', (context) => context.json(product));
serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
  console.log(JSON.stringify({ port, path: `/api/v2/products/${product.id}` }));
});

process.stdin.on('end', () => process.exit()).resume();
