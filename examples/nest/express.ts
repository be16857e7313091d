import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { Body, Controller, Injectable, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createReceiver, type Order } from 'storefront-webhooks';
import { toExpress } from 'storefront-webhooks/express';

@Injectable()
class Orders {
  async deliver(order: Order) {
    console.log(`Delivered order ${order.id}`);
  }
}

@Controller('products')
class ProductsController {
  @Post()
  create(@Body() product: unknown) {
    return product;
  }
}

@Module({ controllers: [ProductsController], providers: [Orders] })
class AppModule {}

const app = await NestFactory.create(AppModule);
const orders = app.get(Orders);

const receiver = createReceiver({ secret: process.env.WEBHOOK_SECRET })
  .onPaid(({ payload: order }) => orders.deliver(order))
  .on('product:out_of_stock', ({ payload }) => console.log(`Out of stock: ${payload.title}`));

// Keep this before listen(), which adds Nest's body parser: the signature covers the bytes as they were sent.
app.use('/webhooks', toExpress(receiver));

await app.listen(process.env.PORT ?? 3000);
const { port } = app.getHttpServer().address() as AddressInfo;
console.log(`Listening on http://localhost:${port}/webhooks`);

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, async () => {
    await receiver.close({ server: app.getHttpServer() });
    await app.close();
  });
}
