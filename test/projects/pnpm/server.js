import express from 'express';
import { toExpress } from 'storefront-webhooks/express';
import { makeReceiver } from './receiver.mjs';

const receiver = makeReceiver();
const app = express();
app.post('/webhooks', toExpress(receiver));
app.use(express.json());
app.post('/parsed', toExpress(receiver));
const server = app.listen(process.env.PORT, () =>
  console.log(`http://localhost:${server.address().port}`),
);
