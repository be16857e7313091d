import { createServer } from 'node:http';
import { createNodeMiddleware, Webhooks } from '@octokit/webhooks';
import { listen } from './listen.mjs';

const webhooks = new Webhooks({ secret: process.env.WEBHOOK_SECRET });
webhooks.on('push', async () => {});

listen(createServer(createNodeMiddleware(webhooks, { path: '/webhooks' })));
