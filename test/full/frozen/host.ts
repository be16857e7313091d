import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createReceiver, type IdempotencyStore, memoryStore } from 'storefront-webhooks';
import { deliver, paidOrder, SECRET } from '../../support/deliver.js';
import { durableStore } from '../../support/durable.js';
import { answer, type RemoteVerbs } from '../../support/remote-answer.js';

/** How long the store is away, from the moment at which the goods have gone out. */
const AWAY_MS = 2_500;

type Route = (request: IncomingMessage, response: ServerResponse) => unknown;

/** The surroundings of a shop: its store, which is away after each effect, and those who get its goods. */
export class Host {
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #store: IdempotencyStore = durableStore(undefined, memoryStore());
  readonly #route: Route;
  #isAway = false;
  #whenBack: Promise<void> = Promise.resolve();
  /** The orders whose goods went out, once for each time. */
  readonly goods: string[] = [];

  /** @param route - Answers the requests of the platform. */
  constructor(route: Route) {
    this.#route = route;
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Another instance of the shop gets the next event of the order, until it answers 200, as the provider sends it. */
  async updateOrder(): Promise<void> {
    await this.#whenBack;
    const hooks = { onError() {} };
    const receiver = createReceiver({ secret: SECRET, store: this.#store, hooks });
    receiver.onPaid(({ payload }) => void this.goods.push(payload.id));
    const updated = paidOrder({ updated_at: '2026-11-20T10:00:06.000000+00:00' });
    const send = () => deliver(receiver, updated, { event: 'order:updated', id: 'whl_2' });
    while ((await send()).status !== 200);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url } = request;
    if (url === '/store') {
      const line = await text(request);
      if (this.#isAway) return void response.writeHead(503).end();
      response.end(await answer(line, () => this.#store as unknown as RemoteVerbs));
    } else if (url === '/goods') {
      this.goods.push(await text(request));
      this.#isAway = true;
      this.#whenBack = new Promise((resolve) => {
        setTimeout(() => {
          this.#isAway = false;
          resolve();
        }, AWAY_MS);
      });
      response.end();
    } else await this.#route(request, response);
  }
}
