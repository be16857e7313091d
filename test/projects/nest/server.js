import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { toExpress } from 'storefront-webhooks/express';
import { makeReceiver } from './receiver.mjs';

class AppModule {}
Module({})(AppModule);

const receiver = makeReceiver();
const app = await NestFactory.create(AppModule);
app.use('/webhooks', toExpress(receiver));
app.useBodyParser('json');
app.use('/parsed', toExpress(receiver));
await app.listen(process.env.PORT);
console.log(`http://localhost:${process.env.PORT}`);
