import { type Context, Hono } from 'hono';
import { writeLine } from '../../report/log.js';
import { describeInFull } from '../../report/text.js';
import type { Markets } from '../markets.js';
import { ErrorAnswer } from '../service/answers.js';
import { readText } from '../service/body.js';
import { showCheckout, useCheckout } from './checkout.js';
import { askShop, showContact, showQuery, writeAgain } from './contact.js';
import { showCategory, showShop } from './listing.js';
import { orderProduct, showProduct } from './product.js';
import { showAbsent, showError, showStart, showUnopened } from './sandbox-pages.js';
import type { Visit } from './visit.js';

const MAX_BODY = 1_048_576;

type Handler = (visit: Visit) => Promise<Response>;

/** The shops: what customers of each account see in a browser, without any script. */
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
  page('/contact', (visit) => showContact(visit), askShop);
  page('/contact/:id', (visit) => showQuery(visit), writeAgain);
  app.get('/', ({ req }) => showStart(new URL(req.url).origin));
  app.all('/shop/*', () => showAbsent());
  app.onError((error) => {
    if (error instanceof ErrorAnswer) {
      return showError(error.status, error.message, (error.errors ?? []).join(' '));
    }
    writeLine(`sandbox: ${describeInFull(error)}`, 'operate.md#sandbox');
    return showError(500, 'Something went wrong', 'The sandbox has said what on stderr.');
  });
  return app;
}

async function visit({ req }: Context, markets: Markets, handler: Handler): Promise<Response> {
  const { origin, searchParams } = new URL(req.url);
  const name = req.param('account') ?? '';
  const market = markets.find(name);
  if (!market) return showUnopened(origin, name);
  const isForm = req.method === 'POST';
  if (isForm && !isFrom(origin, req.header('origin'))) {
    return showError(403, 'Not from here', 'Only pages of the sandbox itself may send its forms.');
  }
  return market.account.clock.during(async () => {
    const form = isForm ? new URLSearchParams(await readText(req.raw, MAX_BODY)) : searchParams;
    return handler({ market, id: req.param('id') ?? '', form, headers: req.raw.headers, origin });
  });
}

/** Whether a form was sent by a page of the sandbox, which browsers say, or by no page at all. */
function isFrom(origin: string, sender: string | undefined): boolean {
  return sender === undefined || sender === origin;
}
