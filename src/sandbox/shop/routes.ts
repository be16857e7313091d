import { type Context, Hono } from 'hono';
import { writeLine } from '../../errors/log.js';
import { describeInFull } from '../../errors/text.js';
import type { Markets } from '../markets.js';
import { ErrorAnswer } from '../service/answers.js';
import { readText } from '../service/body.js';
import { showCheckout, useCheckout } from './checkout.js';
import { askShop, showContact, showQuery, writeAgain } from './contact.js';
import { orderProduct, showProduct } from './product.js';
import { showCategory, showShop } from './product-list.js';
import { showAbsent, showError, showStart, showUnopened } from './sandbox-pages.js';
import type { Visit } from './visit.js';
import { showWebhooks } from './webhooks.js';

const MAX_BODY = 1_048_576;

type Handler = (visit: Visit) => Promise<Response>;

/** Returns the routes of the shops: the pages that an account's customers see in a browser, without any script. */
export function shopRoutes(markets: Markets): Hono {
  const app = new Hono();
  const page = (path: string, get: Handler, post?: Handler) => {
    app.get(`/shop/:account${path}`, (context) => visit(context, markets, get));
    if (post) app.post(`/shop/:account${path}`, (context) => visit(context, markets, post));
  };
  page('', showShop);
  page('/category/:id', showCategory);
  page('/product/:id', showProduct, orderProduct);
  page('/checkout/:id', showCheckout, useCheckout);
  page('/webhooks', showWebhooks);
  page('/contact', showContact, askShop);
  page('/contact/:id', showQuery, writeAgain);
  app.get('/', ({ req }) => showStart(new URL(req.url).origin, markets.unknowns));
  app.all('/shop/*', () => showAbsent());
  app.onError((error) => {
    if (error instanceof ErrorAnswer) {
      return showError(error.status, error.message, (error.errors ?? []).join(' '));
    }
    writeLine(`sandbox: ${describeInFull(error)}`, 'operate.md#sandbox');
    return showError(500, 'Something went wrong', 'The sandbox has logged the error on stderr.');
  });
  return app;
}

async function visit({ req }: Context, markets: Markets, handler: Handler): Promise<Response> {
  const { origin, pathname: path, searchParams } = new URL(req.url);
  const name = req.param('account') ?? '';
  const market = markets.find(name);
  if (!market) return showUnopened(origin, markets.unknowns, name);
  const isForm = req.method === 'POST';
  if (isForm && !isFrom(origin, req.header('origin'))) {
    return showError(403, 'Form rejected', 'Only pages of the sandbox itself may send its forms.');
  }
  return market.account.clock.during(async () => {
    const form = isForm ? new URLSearchParams(await readText(req.raw, MAX_BODY)) : searchParams;
    const id = req.param('id') ?? '';
    return handler({ market, id, form, headers: req.raw.headers, origin, path });
  });
}

/** Returns whether a form comes from a page of the sandbox, which browsers report, or from no page at all. */
function isFrom(origin: string, sender: string | undefined): boolean {
  return sender === undefined || sender === origin;
}
