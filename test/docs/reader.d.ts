/**
 * Declares the names that the pages' examples use without importing them: earlier imports, and the reader's own
 * program.
 */
import type { Server } from 'node:http';
import type {
  D1Database,
  DurableObjectNamespace,
  Queue,
  R2Bucket,
} from '@cloudflare/workers-types';
import type { NestFactory as nestFactory } from '@nestjs/core';
import type * as nestFastify from '@nestjs/platform-fastify';
import type expressFunction from 'express';
import type { Pool, PoolClient as pgPoolClient } from 'pg';
import type * as core from 'storefront-webhooks';
import type * as api from 'storefront-webhooks/api';
import type * as expressAdapter from 'storefront-webhooks/express';
import type * as fastifyAdapter from 'storefront-webhooks/fastify';
import type * as goods from 'storefront-webhooks/goods';
import type { Boss } from 'storefront-webhooks/pg-boss';
import type * as sandboxes from 'storefront-webhooks/sandbox';
import type * as testing from 'storefront-webhooks/testing';
import type * as zod from 'zod';

declare global {
  const express: typeof expressFunction;
  const createReceiver: typeof core.createReceiver;
  const isPaid: typeof core.isPaid;
  const createGoods: typeof goods.createGoods;
  const memoryStore: typeof core.memoryStore;
  const orderStatusLabel: typeof core.orderStatusLabel;
  const productSchema: typeof core.productSchema;
  const verifySignature: typeof core.verifySignature;
  const toExpress: typeof expressAdapter.toExpress;
  const replay: typeof testing.replay;
  const toFastify: typeof fastifyAdapter.toFastify;
  const z: typeof zod;

  const NestFactory: typeof nestFactory;
  class AppModule {}
  const FastifyAdapter: typeof nestFastify.FastifyAdapter;
  type NestFastifyApplication = nestFastify.NestFastifyApplication;

  const createClient: typeof api.createClient;
  const client: api.Client;
  const createSandbox: typeof sandboxes.createSandbox;
  const sandbox: sandboxes.Sandbox;
  const account: sandboxes.SandboxAccount;
  const product: api.Product;
  type Issue = core.Issue;

  const receiver: core.Receiver;
  function makeReceiver(): core.Receiver;
  function makeReceiver(env: Env): core.Receiver;
  function makeReceiver(secret: string): core.Receiver;
  const store: core.IdempotencyStore;
  const app: expressFunction.Express;
  const server: Server;
  const pool: Pool;
  const jobs: {
    add(key: string, job: core.Job): Promise<void>;
    later(job: unknown, pauseMs: number): Promise<void>;
    process(run: (job: unknown, attempt: { isLast: boolean }) => unknown): void;
  };
  function openEmptyStore(): Promise<core.IdempotencyStore>;
  function openQueue(attempts: number): Promise<testing.TestedQueue>;
  function openDown(): Promise<Pick<testing.TestedQueue, 'queue' | 'close'>>;
  const secret: string;
  const text: string;
  const seal: typeof core.seal;
  const databaseUrl: string;
  function isDelivered(orderId: string | undefined): Promise<boolean>;
  const boss: Boss;
  type PoolClient = pgPoolClient;
  type WebhookRequest = core.WebhookRequest;
  type HandOff = core.HandOff;
  interface Env {
    readonly WEBHOOK_SECRET: string;
    readonly ACCESS_TOKEN: string;
    readonly DELIVERIES: DurableObjectNamespace;
    readonly WEBHOOKS: Queue;
    readonly BODIES: R2Bucket;
    readonly DB: D1Database;
  }
  const rawBody: Uint8Array;
  const signature: string;

  function deliver(order: core.Order): Promise<void>;
  function revoke(order: core.Order): Promise<void>;
  function saveOrder(order: core.Order): Promise<void>;
  const deliveredOrders: readonly core.Order[];
  function notify(payload: core.JsonObject): Promise<void>;
  function log(...values: unknown[]): void;
  function keepForReview(...values: unknown[]): Promise<void>;
  function makeKey(orderId: string): Promise<string>;
  const makeGoods: goods.MakeGoods;
  function findOrder(id: string): Promise<core.Order | undefined>;
  function createInvoice(orderId: string): Promise<string>;
  function sendMail(to: string, invoice: string): Promise<void>;
  function loadSecret(): Promise<string>;
  function findShop(url?: string): Promise<{ secret: string; name: string } | undefined>;
}
