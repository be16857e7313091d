import { createRequestHandler } from '@react-router/express';
import express from 'express';
import * as build from './build/server/index.js';

const app = express();
app.use('/parsed', express.json());
app.use(createRequestHandler({ build }));
const server = app.listen(process.env.PORT, () =>
  console.log(`http://localhost:${server.address().port}`),
);
