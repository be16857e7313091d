import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { Body, Controller, Injectable, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { createReceiver, type Order } from 'storefront-webhooks';
import { toFastify } from 'storefront-webhooks/fastify';

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

const app = await NestFactory.create<NestFastifyApplication>(AppModule, new FastifyAdapter());
const orders = app.get(Orders);

const receiver = createReceiver({ secret: process.env.WEBHOOK_SECRET })
  .onPaid(({ payload: order }) => orders.deliver(order))
  .on('product:out_of_stock', ({ payload }) => console.log(`Out of stock: ${payload.title}`));

await app.register(toFastify(receiver), { prefix: '/webhooks' });

// Without a host, Fastify can only be reached from its own machine or container.
await app.listen(process.env.PORT ?? 3000, '0.0.0.0');
const { port } = app.getHttpServer().address() as AddressInfo;
console.log(`Listening on http://localhost:${port}/webhooks`);

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, async () => {
    await receiver.close({ server: app.getHttpServer() });
    await app.close();
  });
}
